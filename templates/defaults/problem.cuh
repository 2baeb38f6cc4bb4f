#pragma once
// Defaults, so that host_main.cuh can be read and checked beside a kernel; a rendering puts the problem's own numbers
// here.
constexpr long long kM = 512, kN = 512, kK = 512, kLda = 512, kLdb = 512, kLdc = 512, kLdd = 512;
constexpr long long kAStrideM = 512, kAStrideK = 1, kBStrideK = 1, kBStrideN = 512;
constexpr long long kElementsA = 512 * 512, kElementsB = 512 * 512, kElementsC = 512 * 512, kElementsD = 512 * 512;
constexpr float kAlpha = 2.0f, kBeta = -1.0f;
constexpr long long kSparsity = 1, kWorkspaceBytes = 1;
constexpr double kFlops = 2.0 * kM * kN * kK;
#define GEMM_SET_ARGUMENTS()                                                                             \
    args.a = a;                                                                                          \
    args.b = b;                                                                                          \
    args.d = d;                                                                                          \
    args.m = kM;                                                                                         \
    args.n = kN;                                                                                         \
    args.k = kK;                                                                                         \
    args.lda = kLda;                                                                                     \
    args.ldb = kLdb;                                                                                     \
    args.ldd = kLdd;                                                                                     \
    args.alpha = kAlpha;                                                                                 \
    check(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, 4 * 2 * 128 * 32 * 2), \
          "allow shared memory")
using Input = unsigned short;
__device__ float input_value(Input bits) { return __bfloat162float(__ushort_as_bfloat16(bits)); }
__device__ Input input_bits(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
#if GEMM_MIXED_INPUTS
__device__ Input input_bits_b(float value) { return input_bits(value); }
#endif
__device__ ElementD rounded(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
// Results are equal bit for bit. Only the sign of zero may differ.
__device__ bool equal(ElementD got, ElementD expected) { return got == expected || (got | expected) == 0x8000u; }
void launch(const GemmArgs& args) { gemm<<<16, 128, 4 * 2 * 128 * 32 * 2>>>(args); }
