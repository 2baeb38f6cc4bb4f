#pragma once

// The vectors of kVector elements that a thread copies: one in each pass, kRowsPerPass rows apart. In shared memory, a
// K-major operand has a row for each of kExtent rows (or columns) of D. Any other operand has a row for each k.
template <typename Element, bool kKMajor, int kExtent, int kVector>
struct CopyPlace {
    static constexpr int kRows = kKMajor ? kExtent : kBlockK;
    static constexpr int kVectorsPerRow = (kKMajor ? kBlockK : kExtent) / kVector;
    static constexpr int kRowsPerPass = kThreads / kVectorsPerRow;
    static constexpr int kPasses = (kRows + kRowsPerPass - 1) / kRowsPerPass;

    const Element* source;  // this thread's vector of pass 0 in the next k-tile
    long long pass_pitch;  // elements from one pass to the next
    long long block_pitch;  // elements from one k-tile to the next, unless K-major
    int extent_left;  // elements of M or N from this thread's vector on
    int k_left;  // elements of K from this thread's vector of the next k-tile on
    int row, column;  // of pass 0, in the tile

    __device__ __forceinline__ CopyPlace(const Element* matrix, long long ld, int first, int extent, int first_k,
                                         int k) {
        row = threadIdx.x / kVectorsPerRow;
        column = threadIdx.x % kVectorsPerRow * kVector;
        if constexpr (kKMajor) {
            source = matrix + (first + row) * ld + first_k + column;
            pass_pitch = kRowsPerPass * ld;
            extent_left = extent - first - row;
            k_left = k - first_k - column;
        } else {
            source = matrix + (first_k + static_cast<long long>(row)) * ld + first + column;
            pass_pitch = kRowsPerPass * ld;
            block_pitch = kBlockK * ld;
            k_left = k - first_k - row;
            extent_left = extent - first - column;
        }
    }

    // Rows and columns of the matrix that are left from this thread's vector of pass 0 on.
    __device__ __forceinline__ int rows_left() const { return kKMajor ? extent_left : k_left; }
    __device__ __forceinline__ int columns_left() const { return kKMajor ? k_left : extent_left; }

    __device__ __forceinline__ void next_k_tile() {
        source += kKMajor ? kBlockK : block_pitch;
        k_left -= kBlockK;
    }
};
