#pragma once

// A column of elements, one for each row of D^T. Two rows of sums make a row of D^T: a warp has eight rows of every 32.
// Lane l has row l / 4 of the eight. It reads their elements while the last wgmmas run.
template <typename Type, int kStep>
struct PairedColumnVector {
    using Element = typename Type::Element;
    Element rows[kTilesOfVector];  // one of every 32 rows

    // The part that begins at a row of D^T, with an element at every kStep-th place. Nothing is read from `end` on.
    __device__ __forceinline__ PairedColumnVector(const Element* vector, int row, int end, bool is_read, int lane) {
        row += lane / 4;
        const int left = is_read ? end - row : 0;
#pragma unroll
        for (int i = 0; i < kTilesOfVector; ++i) rows[i] = load_if(vector + (row + i * 32) * kStep, i * 32 < left);
    }

#if !GEMM_OVERLAPPED
    // The part `distance` rows of sums below.
    __device__ __forceinline__ PairedColumnVector below(int distance) const {
        PairedColumnVector part = *this;
        part.rows[0] = rows[distance / 64];
        return part;
    }

#endif
    __device__ __forceinline__ float row() const { return Type::to_float(rows[0]); }
};
