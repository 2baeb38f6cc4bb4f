#pragma once

// The place of the first sum for D's column `column`, in a row of sums that begins with a whole pair.
#if GEMM_PAIRED_HALVES
// Of 16 sums, the first eight belong to one half of B, and the others to the other half.
constexpr int kToSecond = 8;
__device__ __forceinline__ int place_of_pair(int column) { return column / 8 * 16 + column % 8; }
#else
constexpr int kToSecond = 1;
__device__ __forceinline__ int place_of_pair(int column) { return 2 * column; }
#endif
