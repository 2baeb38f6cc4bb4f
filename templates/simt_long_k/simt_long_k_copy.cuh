#pragma once
#include "cp_async.cuh"

// gA, gB -> sA, sB by all threads of the block. Rows in shared memory are rows in global memory.

// Waits until the k-tile needed next has landed for all threads. All threads have then read the previous one.
__device__ __forceinline__ void wait_for_oldest_copy() {
    cp_async_wait<kStages - 2>();
    __syncthreads();
}
__device__ __forceinline__ void wait_for_all_copies() {
    cp_async_wait<0>();
    __syncthreads();
}

// Copies this block's tiles of a matrix, kRows rows of kColumns elements, in vectors of kVector. A thread keeps its
// place in a row and goes down the rows, pass by pass, with a few passes in each step of a k-tile. Elements outside the
// matrix arrive as zeros.
template <int kRows, int kColumns, int kVector, int kPitch>
struct TileCopy {
    static constexpr int kVectors = (kColumns + kVector - 1) / kVector;  // of a row
    static constexpr int kParts = (kVectors + kThreads - 1) / kThreads;  // of a row, one after the other
    static constexpr int kRowsPerPass = kParts > 1 ? 1 : kThreads / kVectors;  // threads beyond whole rows are idle
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;
    static constexpr int kPassesPerStep = (kPasses + kSteps - 1) / kSteps;
    static constexpr bool kAllBusy =
        kRows == kRowsPerPass * kPassesPerStep * kSteps && (kParts > 1 || kThreads % kVectors == 0);

    const float* source;  // this thread's first element of the row it copies next
    long long pass_pitch;  // elements from one pass to the next
    long long tile_pitch;  // from the end of a tile's last pass to the next tile
    int column;  // of this thread in a row
    int first_row;  // of this thread in a tile
    int row;  // the row it copies next

    __device__ __forceinline__ TileCopy(const float* tile, long long ld, long long tile_to_tile) {
        column = threadIdx.x % kVectors * kVector;
        first_row = kParts > 1 ? 0 : threadIdx.x / kVectors;
        source = tile + first_row * ld + column;
        pass_pitch = kRowsPerPass * ld;
        tile_pitch = tile_to_tile - kSteps * kPassesPerStep * pass_pitch;
        if (first_row >= kRowsPerPass) first_row = kRows;
        row = first_row;
    }

    // Copies a step's passes. `rows` and `columns` of the tile lie inside the matrix.
    __device__ __forceinline__ void issue(float* stage, int rows, int columns) {
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
            const int along = part * kThreads * kVector;
            if (kVectors % kThreads != 0 && column + along >= kColumns) break;
            const int bytes = max(0, min(kVector, columns - column - along)) * 4;
#pragma unroll
            for (int pass = 0; pass < kPassesPerStep; ++pass) {
                const int at = row + pass * kRowsPerPass;
                if (!kAllBusy && at >= kRows) break;
                cp_async_cut<kVector>(stage + at * kPitch + column + along, source + pass * pass_pitch + along,
                                      at < rows ? bytes : 0);
            }
        }
        source += kPassesPerStep * pass_pitch;
        row += kPassesPerStep * kRowsPerPass;
    }

    // Moves on to the next tile.
    __device__ __forceinline__ void finish() {
        source += tile_pitch;
        row = first_row;
    }
};
#include "long_k_operands.inl"
