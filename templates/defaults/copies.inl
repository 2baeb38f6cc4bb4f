// Of the copies in copy_a.cuh and copy_b.cuh.
using CopyA = AsyncCopy<GEMM_A_K_MAJOR, kBlockM, kPitchA, kAlignA>;
using CopyB = AsyncCopy<GEMM_B_K_MAJOR, kBlockN, kPitchB, kAlignB>;
