#pragma once
#include "epilogue/output_tile.cuh"
#if GEMM_PAIRS && !GEMM_PARTIAL_SUMS
#include "epilogue/staged_pairs.cuh"
#elif GEMM_STAGED_SUMS
#include "epilogue/staged_sums.cuh"
#else
#include "epilogue/staged_results.cuh"
#endif

__device__ __forceinline__ void epilogue(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const OutputTile& output,
                                         int warp_row, int warp_column, char* shared_memory, int warp, int lane) {
#if GEMM_PAIRS && !GEMM_PARTIAL_SUMS
    constexpr int kVectorsPerRow = kWarpN / 2 / kVectorD;
#else
    constexpr int kVectorsPerRow = kWarpN / kVectorD;
#endif
    constexpr int kVectors = kMmaM * kVectorsPerRow;
    Staged* sC = reinterpret_cast<Staged*>(shared_memory) + warp * kMmaM * kPitchC;  // (kMmaM, kWarpN), pitch kPitchC

    GEMM_WAIT_FOR_ALL_COPIES();
    __syncthreads();  // all warps have finished the mainloop: shared memory is free

#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#if GEMM_STAGED_SUMS || GEMM_PARTIAL_SUMS
        stage_rows(sC, rC[i]);
#else
        stage_rows(sC, rC[i], output);
#endif
        __syncwarp();
#if GEMM_READ_C
        // kBatch loads of C are in flight at once, as C may come from DRAM. A load after a store would wait for the
        // store's data.
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
#if GEMM_PAIRS && !GEMM_PARTIAL_SUMS
            store_vector(output, warp_row + i * kMmaM + row, warp_column / 2 + column,
                         sC + row * kPitchC + place_of_pair(column));
#else
            store_vector(output, warp_row + i * kMmaM + row, warp_column + column, sC + row * kPitchC + column);
#endif
        }
#endif
        __syncwarp();  // all lanes have read the rows before the next overwrite them
    }
}
