// How A and B are copied.
#include "multistage/copy_async.cuh"
using CopyA = AsyncCopy<GEMM_A_K_MAJOR, kBlockM, kPitchA, kAlignA>;
using CopyB = AsyncCopy<GEMM_B_K_MAJOR, kBlockN, kPitchB, kAlignB>;
