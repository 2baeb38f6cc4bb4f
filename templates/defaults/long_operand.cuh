#pragma once
#if GEMM_LONG_B
// B is the long operand: its columns are the rows of an mma, the few rows of A its columns.
__device__ __forceinline__ const TensorMap& map_of_long(const GemmArgs& args) { return args.map_b; }
__device__ __forceinline__ const TensorMap& map_of_few(const GemmArgs& args) { return args.map_a; }
__device__ __forceinline__ int extent_of_long(const GemmArgs& args) { return args.n; }

// Of D's tile.
__device__ __forceinline__ int first_row(unsigned /*tile*/) { return 0; }
__device__ __forceinline__ int first_column(unsigned tile) { return tile * kBlockM; }

// Sums of two neighbours of the few: D's rows, which lie kPitchP apart.
__device__ __forceinline__ void lay_out_pair(float* sums, int of_long, int of_few, float2 pair) {
    sums[of_few * kPitchP + of_long] = pair.x;
    sums[(of_few + 1) * kPitchP + of_long] = pair.y;
}
#else
// A is the long operand: all columns of B, the few, meet each of its rows.
__device__ __forceinline__ const TensorMap& map_of_long(const GemmArgs& args) { return args.map_a; }
__device__ __forceinline__ const TensorMap& map_of_few(const GemmArgs& args) { return args.map_b; }
__device__ __forceinline__ int extent_of_long(const GemmArgs& args) { return args.m; }

// Of D's tile.
__device__ __forceinline__ int first_row(unsigned tile) { return tile * kBlockM; }
__device__ __forceinline__ int first_column(unsigned /*tile*/) { return 0; }

// Sums of two neighbours of the few: D's columns, which lie side by side.
__device__ __forceinline__ void lay_out_pair(float* sums, int of_long, int of_few, float2 pair) {
    *reinterpret_cast<float2*>(sums + of_long * kPitchP + of_few) = pair;
}
#endif
