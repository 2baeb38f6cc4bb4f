#pragma once
#include "cp_async.cuh"
#include "reach.cuh"

// gA, gB -> sA, sB by all threads of the block. A thread keeps its place in a row and goes down the rows, pass by pass.
// Elements outside the matrix arrive as zeros.
#if GEMM_COPY_TRANSPOSED

// Copies a tile (kRows, kBlockK) of a matrix contiguous along k, element by element, into rows of one k. A warp copies
// kKLanes of k from 32 / kKLanes rows of the matrix at once.
template <int kRows, int kPitch>
struct TransposedCopy {
    static constexpr int kRowsPerPass = kThreads / kKLanes;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;
    static constexpr int kSteps = kBlockK / kKLanes;  // elements of a row a thread copies

    const Element* source;  // this thread's first element of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    int row;  // of that element, in the tile
    int place;  // of it, in a stage
    Reach reach;  // from it on

    __device__ __forceinline__ TransposedCopy(const Element* matrix, long long ld, int first_row, int rows, int first_k,
                                              int end_k) {
        const int k = threadIdx.x % kKLanes;
        row = threadIdx.x / kKLanes;
        place = k * kPitch + row;
        source = matrix + (first_row + row) * ld + first_k + k;
        pass_pitch = kRowsPerPass * ld;
        reach = Reach{end_k - first_k - k, rows - first_row - row};
    }

    // Copies one of `slices` parts of the tile.
    __device__ __forceinline__ void issue(float* stage, int slice, int slices) {
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            const Element* row_of_pass = source + pass * pass_pitch;
            asm("mov.b64 %0, %0;" : "+l"(row_of_pass));  // or each step would compute it in its own way
#pragma unroll
            for (int step = 0; step < kSteps; ++step)
                cp_async<1>(stage + place + step * kKLanes * kPitch + pass * kRowsPerPass, row_of_pass + step * kKLanes,
                            reach.contains(pass * kRowsPerPass, step * kKLanes));
        }
    }

    // Moves on to the next k-tile.
    __device__ __forceinline__ void finish() {
        source += kBlockK;
        reach.k -= kBlockK;
    }
};
#endif
#if GEMM_COPY_STRAIGHT

// Copies a tile (kBlockK, kColumns) of a matrix contiguous along M or N, in vectors of kVector elements.
template <int kColumns, int kPitch, int kVector>
struct StraightCopy {
    static constexpr int kVectorsPerRow = kColumns / kVector;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kBlockK + kRowsPerPass - 1) / kRowsPerPass;

    const Element* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    long long block_pitch;  // elements from one k-tile to the next
    int row;  // of pass 0, in the tile
    int place;  // of this thread's vector in a stage
    Reach reach;  // of K from it on, and the bytes of the vector that lie in the matrix: the edge may cut it

    __device__ __forceinline__ StraightCopy(const Element* matrix, long long ld, int first_column, int columns,
                                            int first_k, int end_k) {
        const int column = threadIdx.x % kVectorsPerRow * kVector;
        row = threadIdx.x / kVectorsPerRow;
        place = row * kPitch + column;
        source = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch = kRowsPerPass * ld;
        block_pitch = kBlockK * ld;
        reach = Reach{end_k - first_k - row, max(0, min(kVector, columns - first_column - column)) * 4};
    }

    // Copies one of `slices` parts of the tile.
    __device__ __forceinline__ void issue(float* stage, int slice, int slices) {
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
#endif
            float* to = stage + place + pass * kRowsPerPass * kPitch;
            const Element* vector = source + pass * pass_pitch;
#if GEMM_PREDICATED
            cp_async_cut<kVector>(to, vector, reach.contains_k(pass * kRowsPerPass) ? reach.extent : 0);
#else
            cp_async<kVector>(to, vector, reach.contains_k(pass * kRowsPerPass));
#endif
        }
    }

    // Moves on to the next k-tile.
    __device__ __forceinline__ void finish() {
        source += block_pitch;
        reach.k -= kBlockK;
    }
};
#endif
#include "simt_copies.inl"

__device__ __forceinline__ void finish_copies(CopyA& copy_a, CopyB& copy_b) {
    copy_a.finish();
    copy_b.finish();
    cp_async_commit();
}

// Waits until the k-tile needed next has landed for all threads. They have then read the previous one.
__device__ __forceinline__ void wait_for_oldest_copy() {
    cp_async_wait<kStages - 2>();
    __syncthreads();
}
