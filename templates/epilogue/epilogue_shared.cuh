#pragma once
#include "epilogue/output_tile.cuh"
#if GEMM_STAGED_SUMS
#include "epilogue/store_element.cuh"
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

#if GEMM_STAGED_F32
__device__ __forceinline__ float staged_sum(float sum) { return sum; }
#else
__device__ __forceinline__ float staged_sum(Bits sum) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(sum));
    return result;
}
#endif
#if GEMM_READ_C
// An element of D from a staged sum; C's element is read where any is.
__device__ __forceinline__ float finish_staged(const OutputTile& output, Staged staged, const ElementC* c) {
    return finish(output, staged_sum(staged), [&] { return c_to_float(*c); });
}
#else
__device__ __forceinline__ float finish_staged(const OutputTile& output, Staged staged) {
    return finish(output, staged_sum(staged));
}
#endif
#endif

#if GEMM_READ_C
// A vector of C; zeros where it is not whole, or nothing is read.
__device__ __forceinline__ VectorC load_c(const OutputTile& output, int row, int column) {
    VectorC c = {};
    if (c_factor(output) != 0.0f && row < output.m && column + kVectorD <= output.n)
        c = *reinterpret_cast<const VectorC*>(output.c + row * output.ldc + column);
    return c;
}

#endif
#if GEMM_VECTOR_D > 1
// One vector of one row of D, staged in shared memory; a vector cut by the right edge goes element by element.
#else
// One element of D, staged in shared memory.
#endif
#if GEMM_READ_C
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged,
                                             const VectorC& addend) {
#else
__device__ __forceinline__ void store_vector(const OutputTile& output, int row, int column, const Staged* staged) {
#endif
    if (row >= output.m || column >= output.n) return;
    auto* d = output.d + row * output.ldd + column;
#if GEMM_VECTOR_D > 1
    if (column + kVectorD > output.n) {
#if GEMM_READ_C
        const ElementC* c = output.c + row * output.ldc + column;
#endif
#pragma unroll 1
#if GEMM_READ_C
        for (int i = 0; column + i < output.n; ++i) store(d + i, finish_staged(output, staged[i], c + i));
#elif GEMM_STAGED_SUMS
        for (int i = 0; column + i < output.n; ++i) store(d + i, finish_staged(output, staged[i]));
#else
        for (int i = 0; column + i < output.n; ++i) d[i] = staged[i];
#endif
        return;
    }
#endif
#if GEMM_STAGED_SUMS
    const StagedVector sum = *reinterpret_cast<const StagedVector*>(staged);
    OutputVector value;
#pragma unroll
#if GEMM_READ_C
    for (int i = 0; i < kVectorD; ++i)
        store(&value.element[i], finish_staged(output, sum.element[i], &addend.element[i]));
#else
    for (int i = 0; i < kVectorD; ++i) store(&value.element[i], finish_staged(output, sum.element[i]));
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
#if GEMM_STAGED_SUMS || GEMM_PARTIAL_SUMS
        stage_rows(sC, rC[i]);
#else
        stage_rows(sC, rC[i], output);
#endif
        __syncwarp();
#if GEMM_READ_C
        // Some vectors of C are on their way at a time, which may come from DRAM: a load behind a store waits for what that stores.
        constexpr int kBatch = kVectors < 128 ? (kVectors + 31) / 32 : 4;
#pragma unroll 1
        for (int first = lane; first < kVectors; first += kBatch * 32) {
            VectorC addend[kBatch];
#pragma unroll
            for (int u = 0; u < kBatch; ++u) {
                const int v = min(first + u * 32, kVectors - 1);
                addend[u] = load_c(output, warp_row + i * kMmaM + v / kVectorsPerRow,
                                   warp_column + v % kVectorsPerRow * kVectorD);
            }
#pragma unroll
            for (int u = 0; u < kBatch; ++u) {
                const int v = first + u * 32;
                if (v >= kVectors) break;
                const int row = v / kVectorsPerRow;
                const int column = v % kVectorsPerRow * kVectorD;
                store_vector(output, warp_row + i * kMmaM + row, warp_column + column, sC + row * kPitchC + column,
                             addend[u]);
            }
        }
#else
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
#endif
        __syncwarp();  // read before the next rows overwrite it
    }
}
