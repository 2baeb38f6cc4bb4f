#pragma once

// One column of elements, the same for all columns of D. A thread has rows g and g + 8 of its warp's 16. It reads their
// elements while the last wgmmas run.
template <typename Type>
struct ColumnVector {
    using Element = typename Type::Element;
    Element rows[kTilesOfVector * 2];  // two of every 64 rows

    // The part that begins at a row of D. Nothing is read from `end` on.
    __device__ __forceinline__ ColumnVector(const Element* vector, int row, int end, bool is_read, int lane) {
        row += lane / 4;
        const int left = is_read ? end - row : 0;
#pragma unroll
        for (int i = 0; i < kTilesOfVector * 2; ++i) {
            const int below = i / 2 * 64 + i % 2 * 8;
            rows[i] = load_if(vector + row + below, below < left);
        }
    }

#if !GEMM_OVERLAPPED
    // The part `distance` rows below.
    __device__ __forceinline__ ColumnVector below(int distance) const {
        ColumnVector part = *this;
        part.rows[0] = rows[distance / 32];
        part.rows[1] = rows[distance / 32 + 1];
        return part;
    }

#endif
    // The element of row g (pair 0) or g + 8 (pair 1).
    __device__ __forceinline__ float row(int pair) const { return Type::to_float(rows[pair]); }
};
