#pragma once
#if GEMM_STAGED_SUMS
#include "store_element.cuh"
// rC -> sC -> gD. A warp lays kMmaM rows of its tile at a time into its own part of shared memory, as sums, and reads them back
// as whole vectors of a row, which it scales and converts: its stores (and its reads of C) cover runs of kWarpN elements.
#else
// rC -> sC -> gD. A warp lays kMmaM rows of its tile at a time into its own part of shared memory, scaled and converted, and
// reads them back as whole vectors of a row: its stores cover runs of kWarpN elements.
#endif
struct alignas(kVectorD * sizeof(Staged)) StagedVector {
    Staged element[kVectorD];
};
#if GEMM_STAGED_F32 == GEMM_STORE_F32
using OutputVector = StagedVector;
#else
struct alignas(kVectorD * sizeof(ElementOut)) OutputVector {
    ElementOut element[kVectorD];
};
#endif
#if GEMM_READ_C
struct alignas(kVectorD * sizeof(ElementC)) VectorC {
    ElementC element[kVectorD];
};
#endif
#if GEMM_STAGED_SUMS

#if !GEMM_STAGED_F32
__device__ __forceinline__ float to_float(Bits sum) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(sum));
    return result;
}

#endif
#if GEMM_READ_C
// alpha * sum + beta * C, in f32. C is not read when beta is 0, whatever it holds.
__device__ __forceinline__ float finish(const OutputTile& output, Staged sum, const ElementC* c) {
#if GEMM_STAGED_F32
    const float scaled = output.alpha * sum;
#else
    const float scaled = output.alpha * to_float(sum);
#endif
    return output.beta != 0.0f ? fmaf(output.beta, c_to_float(*c), scaled) : scaled;
}
#elif GEMM_STAGED_F32
__device__ __forceinline__ float finish(const OutputTile& output, float sum) { return output.alpha * sum; }
#else
__device__ __forceinline__ float finish(const OutputTile& output, Bits sum) { return output.alpha * to_float(sum); }
#endif
#endif

#if GEMM_VECTOR_D > 1
// One vector of one row of D, staged in shared memory; a vector cut by the right edge goes element by element.
#else
// One element of D, staged in shared memory.
#endif
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged) {
    if (row >= output.m || column >= output.n) return;
    auto* d = output.d + row * output.ldd + column;
#if GEMM_READ_C
    const ElementC* c = output.c + row * output.ldc + column;
#endif
#if GEMM_VECTOR_D > 1
    if (column + kVectorD > output.n) {
#pragma unroll 1
#if GEMM_READ_C
        for (int i = 0; column + i < output.n; ++i) store(d + i, finish(output, staged[i], c + i));
#elif GEMM_STAGED_SUMS
        for (int i = 0; column + i < output.n; ++i) store(d + i, finish(output, staged[i]));
#else
        for (int i = 0; column + i < output.n; ++i) d[i] = staged[i];
#endif
        return;
    }
#endif
#if GEMM_STAGED_SUMS
    const StagedVector sum = *reinterpret_cast<const StagedVector*>(staged);
    OutputVector value;
#if GEMM_READ_C
    VectorC addend = {};
    if (output.beta != 0.0f) addend = *reinterpret_cast<const VectorC*>(c);
#endif
#pragma unroll
#if GEMM_READ_C
    for (int i = 0; i < kVectorD; ++i) store(&value.element[i], finish(output, sum.element[i], &addend.element[i]));
#else
    for (int i = 0; i < kVectorD; ++i) store(&value.element[i], finish(output, sum.element[i]));
#endif
    *reinterpret_cast<OutputVector*>(d) = value;
#else
    *reinterpret_cast<OutputVector*>(d) = *reinterpret_cast<const StagedVector*>(staged);
#endif
}

__device__ __forceinline__ void epilogue(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const OutputTile& output,
                                         int warp_row, int warp_column, char* shared_memory, int warp, int lane) {
    constexpr int kVectorsPerRow = kWarpN / kVectorD;
    constexpr int kVectors = kMmaM * kVectorsPerRow;
    Staged* sC = reinterpret_cast<Staged*>(shared_memory) + warp * kMmaM * kPitchC;  // (kMmaM, kWarpN), pitch kPitchC

#if GEMM_COPY_ASYNC
    cp_async_wait<0>();
#endif
    __syncthreads();  // the mainloop is done with shared memory

#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#if GEMM_STAGED_SUMS
        stage_rows(sC, rC[i]);
#else
        stage_rows(sC, rC[i], output.alpha);
#endif
        __syncwarp();
#pragma unroll 4
#if GEMM_VECTOR_RESIDUE
        for (int v = lane; v < (kVectors + 31) / 32 * 32; v += 32) {
            if (v >= kVectors) break;
#else
        for (int v = lane; v < kVectors; v += 32) {
#endif
            const int row = v / kVectorsPerRow;
            const int column = v % kVectorsPerRow * kVectorD;
            store_vector(output, warp_row + i * kMmaM + row, warp_column + column, sC + row * kPitchC + column);
        }
        __syncwarp();  // read before the next rows overwrite it
    }
}
