#pragma once
// Where the parts of a workspace lie. A rendering prints those that its kernel has.
#if GEMM_PACK_A || GEMM_PACK_B
struct PackedOperand {
    Bits* elements;
    int rows, columns;

    __device__ __forceinline__ long long pitch() const {
        return columns > 32 ? (columns + 63ll) / 64 * 64 : columns > 16 ? 32 : 16;
    }
    __device__ __forceinline__ char* end() const {
        return reinterpret_cast<char*>(elements) + (rows * pitch() * 2 + 255) / 256 * 256;
    }
};
#endif
#if GEMM_PACK_A
__device__ __forceinline__ PackedOperand packed_a(const GemmArgs& args) {
    return {reinterpret_cast<Bits*>(args.workspace), GEMM_A_K_MAJOR ? args.m : args.k,
            GEMM_A_K_MAJOR ? args.k : args.m};
}
__device__ __forceinline__ char* behind_a(const GemmArgs& args) { return packed_a(args).end(); }
#elif GEMM_WORKSPACE
__device__ __forceinline__ char* behind_a(const GemmArgs& args) { return args.workspace; }
#endif
#if GEMM_PACK_B
__device__ __forceinline__ PackedOperand packed_b(const GemmArgs& args) {
    return {reinterpret_cast<Bits*>(behind_a(args)), GEMM_B_K_MAJOR ? args.n : args.k,
            GEMM_B_K_MAJOR ? args.k : args.n};
}
__device__ __forceinline__ char* behind_packed(const GemmArgs& args) { return packed_b(args).end(); }
#elif GEMM_WORKSPACE
__device__ __forceinline__ char* behind_packed(const GemmArgs& args) { return behind_a(args); }
#endif
#if GEMM_PARTIAL_SUMS
__device__ __forceinline__ long long partials_pitch(int n) { return (n + 3ll) / 4 * 4; }
__device__ __forceinline__ float* partials(const GemmArgs& args) {
    return reinterpret_cast<float*>(behind_packed(args));
}
#elif GEMM_STREAM_K
__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) { return behind_packed(args); }
#endif
#if GEMM_PACK_A || GEMM_PACK_B
#include "common/pack.cuh"
#endif
