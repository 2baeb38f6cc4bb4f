#pragma once
#if !GEMM_COPY_ASYNC
#include "common/input_to_float.cuh"
#endif
// gA, gB -> sA, sB by all threads of the block. A thread keeps its place in a row and goes down the rows, pass by pass.
// Elements outside the matrix arrive as zeros.
#if GEMM_COPY_ASYNC
#if GEMM_COPY_TRANSPOSED || !GEMM_PREDICATED
// cp.async of kFloats, global to shared memory. Out of range, it reads nothing and zeros the destination.
template <int kFloats>
__device__ __forceinline__ void cp_async(float* destination, const float* source, bool in_range) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(destination));
    if constexpr (kFloats == 4)
        asm volatile(
            "{ .reg .pred ignore; setp.eq.s32 ignore, %2, 0; "
            "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, ignore; }" ::"r"(address),
            "l"(source), "r"(static_cast<int>(in_range))
            : "memory");
    else
        asm volatile(
            "{ .reg .pred ignore; setp.eq.s32 ignore, %2, 0; "
            "cp.async.ca.shared.global.L2::128B [%0], [%1], %3, ignore; }" ::"r"(address),
            "l"(source), "r"(static_cast<int>(in_range)), "n"(kFloats * 4)
            : "memory");
}

#endif
#if GEMM_COPY_STRAIGHT && GEMM_PREDICATED
// cp.async of kFloats, global to shared memory. It reads the first `bytes`, and zeros the rest.
template <int kFloats>
__device__ __forceinline__ void cp_async_cut(float* destination, const float* source, int bytes) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(destination));
    if constexpr (kFloats == 4)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(address), "l"(source), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %3, %2;" ::"r"(address), "l"(source), "r"(bytes),
                     "n"(kFloats * 4)
                     : "memory");
}

#endif
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until the k-tile needed next has landed for all threads. They have then read the previous one.
__device__ __forceinline__ void wait_for_oldest_copy() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
}
#else
// Waits until all threads have written the k-tile needed next. They have then read the previous one.
__device__ __forceinline__ void wait_for_oldest_copy() { __syncthreads(); }
#endif
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
#if GEMM_PREDICATED
    int rows_left;  // rows of the matrix from this thread's row on
#endif
    int k_left;  // elements of K from this thread's first one of the next k-tile on
    int row;  // this thread's row in the tile
    int place;  // of its first element in a stage
#if !GEMM_COPY_ASYNC
    Element fetched[kPasses][kSteps];
#endif

    __device__ __forceinline__ TransposedCopy(const Element* matrix, long long ld, int first_row, int rows, int first_k,
                                              int end_k) {
        const int k = threadIdx.x % kKLanes;
        row = threadIdx.x / kKLanes;
        place = k * kPitch + row;
        source = matrix + (first_row + row) * ld + first_k + k;
        pass_pitch = kRowsPerPass * ld;
        k_left = end_k - first_k - k;
#if GEMM_PREDICATED
        rows_left = rows - first_row - row;
#endif
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
            for (int step = 0; step < kSteps; ++step) {
                const Element* element = row_of_pass + step * kKLanes;
#if GEMM_PREDICATED
                const bool in_range = rows_left > pass * kRowsPerPass && k_left > step * kKLanes;
#else
                const bool in_range = k_left > 0;  // M and N are whole tiles
#endif
#if GEMM_COPY_ASYNC
                cp_async<1>(stage + place + step * kKLanes * kPitch + pass * kRowsPerPass, element, in_range);
#else
                fetched[pass][step] = in_range ? *element : Element{};
#endif
            }
        }
    }

    // Moves on to the next k-tile.
#if GEMM_COPY_ASYNC
    __device__ __forceinline__ void finish() {
        source += kBlockK;
        k_left -= kBlockK;
    }
#else
    __device__ __forceinline__ void finish(float* stage) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kRows % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kRows) break;
#endif
#pragma unroll
            for (int step = 0; step < kSteps; ++step)
                stage[place + step * kKLanes * kPitch + pass * kRowsPerPass] = ab_to_float(fetched[pass][step]);
        }
        source += kBlockK;
        k_left -= kBlockK;
    }
#endif
};
;
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
    int k_left;  // rows from this thread's row of the next k-tile on
    int row;  // of pass 0, in the tile
    int place;  // of this thread's vector in a stage
#if GEMM_COPY_ASYNC && GEMM_PREDICATED
    int row_bytes;  // of a vector inside the matrix: the edge may cut it
#elif !GEMM_COPY_ASYNC
    bool column_in_range;
    Element fetched[kPasses];
#endif

    __device__ __forceinline__ StraightCopy(const Element* matrix, long long ld, int first_column, int columns,
                                            int first_k, int end_k) {
        const int column = threadIdx.x % kVectorsPerRow * kVector;
        row = threadIdx.x / kVectorsPerRow;
        place = row * kPitch + column;
        source = matrix + (first_k + static_cast<long long>(row)) * ld + first_column + column;
        pass_pitch = kRowsPerPass * ld;
        block_pitch = kBlockK * ld;
        k_left = end_k - first_k - row;
#if GEMM_COPY_ASYNC && GEMM_PREDICATED
        row_bytes = max(0, min(kVector, columns - first_column - column)) * 4;
#elif !GEMM_COPY_ASYNC
        column_in_range = columns > first_column + column;
#endif
    }

    // Copies one of `slices` parts of the tile.
    __device__ __forceinline__ void issue(float* stage, int slice, int slices) {
#pragma unroll
        for (int pass = kPasses * slice / slices; pass < kPasses * (slice + 1) / slices; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
#endif
            const Element* vector = source + pass * pass_pitch;
#if GEMM_PREDICATED
            const bool in_range = k_left > pass * kRowsPerPass;
#else
            const bool in_range = k_left > 0;  // M and N are whole tiles
#endif
#if GEMM_COPY_ASYNC && GEMM_PREDICATED
            cp_async_cut<kVector>(stage + place + pass * kRowsPerPass * kPitch, vector, in_range ? row_bytes : 0);
#elif GEMM_COPY_ASYNC
            cp_async<kVector>(stage + place + pass * kRowsPerPass * kPitch, vector, in_range);
#else
            fetched[pass] = in_range && column_in_range ? *vector : Element{};
#endif
        }
    }

    // Moves on to the next k-tile.
#if GEMM_COPY_ASYNC
    __device__ __forceinline__ void finish() {
        source += block_pitch;
        k_left -= kBlockK;
    }
#else
    __device__ __forceinline__ void finish(float* stage) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
#if GEMM_PASS_RESIDUE
            if (kBlockK % kRowsPerPass != 0 && row + pass * kRowsPerPass >= kBlockK) break;
#endif
            stage[place + pass * kRowsPerPass * kPitch] = ab_to_float(fetched[pass]);
        }
        source += block_pitch;
        k_left -= kBlockK;
    }
#endif
};
;
#endif

#if GEMM_A_K_MAJOR
using CopyA = TransposedCopy<kBlockM, kPitchA>;
#else
using CopyA = StraightCopy<kBlockM, kPitchA, kVectorA>;
#endif
#if GEMM_B_K_MAJOR
using CopyB = TransposedCopy<kBlockN, kPitchB>;
#else
using CopyB = StraightCopy<kBlockN, kPitchB, kVectorB>;
#endif
