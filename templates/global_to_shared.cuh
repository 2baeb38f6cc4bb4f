#pragma once
// gA, gB -> sA, sB. A tile is copied in vectors by all threads of the block; a thread keeps its column of vectors and
// goes down the rows, kRowsPerPass at a time. What is in range along M and N is found once, in the constructor, and serves
// every k-tile; only K changes from one to the next. What lies outside the matrix arrives as zeros.
#if GEMM_COMMIT_GROUPS
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kPending>
__device__ __forceinline__ void cp_async_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory"); }
#endif
#if GEMM_COPY_ASYNC
#include "copy_async.cuh"
#endif
#if GEMM_COPY_REGISTERS
#include "copy_registers.cuh"
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
#elif GEMM_A_REGISTERS
#if GEMM_A_K_MAJOR
using CopyA = RegisterCopyKMajor<kBlockM, kPitchA>;
#else
using CopyA = RegisterCopyMNMajor<kBlockM, kPitchA>;
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
#elif GEMM_B_REGISTERS
#if GEMM_B_K_MAJOR
using CopyB = RegisterCopyKMajor<kBlockN, kPitchB>;
#else
using CopyB = RegisterCopyMNMajor<kBlockN, kPitchB>;
#endif
#else
#if GEMM_B_K_MAJOR
using CopyB = RealignCopyKMajor<kBlockN, kPitchB>;
#else
using CopyB = RealignCopyMNMajor<kBlockN, kPitchB>;
#endif
#endif
