#pragma once
// gA, gB -> sA, sB. A tile is copied in vectors by all threads of the block; a thread keeps its column of vectors and
// goes down the rows, kRowsPerPass at a time. Predicates along M and N are found once, in the constructor, and serve every
// k-block; K is only looked at in the last, cut k-block. What lies outside the matrix arrives as zeros.
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kPending>
__device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory"); }

__device__ __forceinline__ int clamp(int value, int low, int high) { return min(max(value, low), high); }
#if GEMM_COPY_ASYNC
#include "copy_async.cuh"
#endif
#if GEMM_COPY_REALIGN
#include "copy_realign.cuh"
#endif

#if GEMM_A_ASYNC
#if GEMM_A_K_MAJOR
using CopyA = AsyncCopyKMajor<kBlockM, kPitchA, kAlignA>;
#else
using CopyA = AsyncCopyMNMajor<kBlockM, kPitchA, kAlignA>;
#endif
#else
#if GEMM_A_K_MAJOR
using CopyA = RealignCopyKMajor<kBlockM, kPitchA>;
#else
using CopyA = RealignCopyMNMajor<kBlockM, kPitchA>;
#endif
#endif
#if GEMM_B_ASYNC
#if GEMM_B_K_MAJOR
using CopyB = AsyncCopyKMajor<kBlockN, kPitchB, kAlignB>;
#else
using CopyB = AsyncCopyMNMajor<kBlockN, kPitchB, kAlignB>;
#endif
#else
#if GEMM_B_K_MAJOR
using CopyB = RealignCopyKMajor<kBlockN, kPitchB>;
#else
using CopyB = RealignCopyMNMajor<kBlockN, kPitchB>;
#endif
#endif
