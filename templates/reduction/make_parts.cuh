#pragma once
#include "common/dependent_launch.cuh"

// 32 rows by 32 columns of the values that a reduction goes over. A lane has a column.
template <typename Kind>
struct ValueTile {
    int rows, columns;  // of D
    int row, column;  // of the first value
    float values[32];

    __device__ __forceinline__ ValueTile(const GemmArgs& args, const float* matrix, int row, int column)
        : rows(args.m), columns(columns_of_d(args)), row(row), column(column) {
        const bool is_column = column + lane() < columns;
        matrix += row * values_pitch(args) + column + lane();
#pragma unroll
        for (int i = 0; i < 32; ++i)
            values[i] = is_column && row + i < rows ? matrix[i * values_pitch(args)] : Kind::of_nothing();
    }
    __device__ __forceinline__ static int lane() { return threadIdx.x % 32; }

#if GEMM_REDUCE_ROWS || GEMM_REDUCE_ALL
    __device__ __forceinline__ float of_column() const {
        float value = values[0];
#pragma unroll
        for (int i = 1; i < 32; ++i) value = Kind::of(value, values[i]);
        return value;
    }
#endif
#if GEMM_REDUCE_ROWS
    // Stores one value of each column.
    __device__ __forceinline__ void reduce_rows(float* parts) const {
        const float value = of_column();
        if (column + lane() < columns) parts[static_cast<long long>(row / 32) * columns + column + lane()] = value;
    }
#endif
#if GEMM_REDUCE_COLUMNS
    // Stores one value of each row. In each of five steps two lanes exchange half of their values, so that a lane ends
    // with one row.
    __device__ __forceinline__ void reduce_columns(float* parts) {
#pragma unroll
        for (int half = 16; half > 0; half /= 2) {
            const bool is_upper = lane() & half;
#pragma unroll
            for (int i = 0; i < half; ++i) {
                const float kept = is_upper ? values[i + half] : values[i];
                const float given = is_upper ? values[i] : values[i + half];
                values[i] = Kind::of(kept, __shfl_xor_sync(0xffffffff, given, half));
            }
        }
        if (row + lane() < rows) parts[static_cast<long long>(column / 32) * rows + row + lane()] = values[0];
    }
#endif
#if GEMM_REDUCE_ALL
    // Stores one value.
    __device__ __forceinline__ void reduce_all(float* parts) const {
        float value = of_column();
#pragma unroll
        for (int other = 1; other < 32; other *= 2) value = Kind::of(value, __shfl_xor_sync(0xffffffff, value, other));
        const long long parts_of_row = (columns + 31) / 32;
        if (lane() == 0) parts[row / 32 * parts_of_row + column / 32] = value;
    }
#endif
};

// Makes parts of reductions from the values that the kernel has left in the workspace. A warp has a tile at a time.
extern "C" __global__ void __launch_bounds__(kPartWarps * 32) gemm_make_parts(const GemmArgs args) {
    GEMM_LAUNCH_ORDER();
    const int rows = args.m, columns = columns_of_d(args);
    const int tiles_of_row = (columns + 31) / 32;
    const int tiles = (rows + 31) / 32 * tiles_of_row;
#pragma unroll 1
    for (int tile = blockIdx.x * kPartWarps + threadIdx.x / 32; tile < tiles; tile += gridDim.x * kPartWarps) {
        const int row = tile / tiles_of_row * 32;
        const int column = tile % tiles_of_row * 32;
        GEMM_MAKE_PARTS();
    }
}
