#pragma once

// Where the sums of D's column `column` stand in a row of sums, which begins with those of a pair.
#if GEMM_PAIRED_HALVES
// Of 16 sums, eight are the first of their pairs, and the others the second.
constexpr int kToSecond = 8;
__device__ __forceinline__ int place_of_pair(int column) { return column / 8 * 16 + column % 8; }
#else
constexpr int kToSecond = 1;
__device__ __forceinline__ int place_of_pair(int column) { return 2 * column; }
#endif
