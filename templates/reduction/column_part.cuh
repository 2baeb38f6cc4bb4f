#pragma once

// A warp's part of a reduction over rows: one value of 16 rows for each column. It is made and stored for four atoms at
// a time: 32 columns.
template <typename Kind>
struct ColumnPart {
    static constexpr int kAtoms = 4;
    float values[kAtoms * 2] = {};  // of this thread's two rows

    // Takes a thread's pair of the j-th eight columns, in row g (pair 0) or g + 8 (pair 1). Only the first `left` of
    // the two are elements of D.
    __device__ __forceinline__ void take(float x, float y, int left, int j, int pair) {
        float* const both = values + j % kAtoms * 2;
        const float first = left > 0 ? x : Kind::of_nothing(), second = left > 1 ? y : Kind::of_nothing();
        both[0] = pair == 0 ? first : Kind::of(both[0], first);
        both[1] = pair == 0 ? second : Kind::of(both[1], second);
    }

    // Stores the part of the first `count` columns from (row, column) of D on. In each of three steps two lanes
    // exchange half of their values, so that a lane ends with one column.
    __device__ __forceinline__ void store(float* parts, const Edges& edges, int row, int column, int count, int lane) {
#pragma unroll
        for (int step = 0; step < 3; ++step) {
            const int half = kAtoms >> step;
            const bool is_upper = lane & 4 << step;
#pragma unroll
            for (int i = 0; i < half; ++i) {
                const float kept = is_upper ? values[i + half] : values[i];
                const float given = is_upper ? values[i] : values[i + half];
                values[i] = Kind::of(kept, __shfl_xor_sync(0xffffffff, given, 4 << step));
            }
        }
        const int own = lane / 4 % 2 * 16 + lane / 8 % 2 * 8 + lane % 4 * 2 + lane / 16;
        if (own < count && row < edges.end_row && column + own < edges.end_column)
            parts[static_cast<long long>(row / kPartRows) * edges.end_column + column + own] = values[0];
    }
};
