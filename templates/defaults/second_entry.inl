// clang-format off
#if GEMM_PARTIAL_SUMS
#include "epilogue/split_k_reduce.cuh"
#elif GEMM_WAVE
#include "scheduler/remainder_tiles.cuh"
#endif
