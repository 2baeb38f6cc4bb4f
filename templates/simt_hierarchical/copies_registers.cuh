#pragma once
#include "common/input_to_float.cuh"
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
    float* to;  // the stage that is filled
    Element fetched[kPasses][kSteps];

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
        to = stage;
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
            const Element* row_of_pass = source + pass * pass_pitch;
            asm("mov.b64 %0, %0;" : "+l"(row_of_pass));  // or each step would compute it in its own way
#pragma unroll
            for (int step = 0; step < kSteps; ++step) {
                const Element* element = row_of_pass + step * kKLanes;
                const bool in_range = reach.contains(pass * kRowsPerPass, step * kKLanes);
                fetched[pass][step] = in_range ? *element : Element{};
            }
        }
    }

    // The k-tile arrives in its stage. On to the next one.
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
#pragma unroll
            for (int step = 0; step < kSteps; ++step)
                to[place + step * kKLanes * kPitch + pass * kRowsPerPass] = ab_to_float(fetched[pass][step]);
        }
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
    Reach reach;  // of K from it on
    bool column_in_range;
    float* to;  // the stage that is filled
    Element fetched[kPasses];

    __device__ __forceinline__ StraightCopy(const Element* matrix, long long ld, int first_column, int columns,
                                            int first_k, int end_k) {
        const int column = threadIdx.x % kVectorsPerRow * kVector;
        row = threadIdx.x / kVectorsPerRow;
        place = row * kPitch + column;
        source = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch = kRowsPerPass * ld;
        block_pitch = kBlockK * ld;
        reach = Reach{end_k - first_k - row, 1};
        column_in_range = columns > first_column + column;
    }

    // Copies one of `slices` parts of the tile.
    __device__ __forceinline__ void issue(float* stage, int slice, int slices) {
        to = stage;
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
#endif
            const Element* vector = source + pass * pass_pitch;
            const bool in_range = reach.contains_k(pass * kRowsPerPass);
            fetched[pass] = in_range && column_in_range ? *vector : Element{};
        }
    }

    // The k-tile arrives in its stage. On to the next one.
    __device__ __forceinline__ void finish() {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
#endif
            to[place + pass * kRowsPerPass * kPitch] = ab_to_float(fetched[pass]);
        }
        source += block_pitch;
        reach.k -= kBlockK;
    }
};
#endif
#include "simt_copies.inl"

__device__ __forceinline__ void finish_copies(CopyA& copy_a, CopyB& copy_b) {
    copy_a.finish();
    copy_b.finish();
}

// Waits until all threads have written the k-tile needed next. They have then read the previous one.
__device__ __forceinline__ void wait_for_oldest_copy() { __syncthreads(); }
