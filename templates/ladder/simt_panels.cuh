#pragma once

// The block's panels of A and B in shared memory, as f32. Each has the order of its matrix: a warp copies 32
// neighbours, which are neighbours in shared memory, too, and lie in 32 different banks.
constexpr int kThreads = kThreadsM * kThreadsN;
#if GEMM_A_K_MAJOR
constexpr int kPitchA = kBlockK;  // sA is (kBlockM, kBlockK)
constexpr int kPanelSizeA = kBlockM * kPitchA;
__device__ __forceinline__ int offset_a(int m, int k) { return m * kPitchA + k; }
#else
constexpr int kPitchA = kBlockM;  // sA is (kBlockK, kBlockM)
constexpr int kPanelSizeA = kBlockK * kPitchA;
__device__ __forceinline__ int offset_a(int m, int k) { return k * kPitchA + m; }
#endif
#if GEMM_B_K_MAJOR
constexpr int kPitchB = kBlockK + 1;  // sB is (kBlockN, kBlockK); odd, as a warp reads 32 rows at once
__device__ __forceinline__ int offset_b(int k, int n) { return n * kPitchB + k; }
#else
constexpr int kPitchB = kBlockN;  // sB is (kBlockK, kBlockN)
__device__ __forceinline__ int offset_b(int k, int n) { return k * kPitchB + n; }
#endif

// gA -> sA: (kBlockM, kBlockK) from (first_row, first_k) on. Elements beyond the edges of A become 0.
__device__ __forceinline__ void copy_panel_a(float* sA, const GemmArgs& args, int first_row, int first_k) {
#pragma unroll 2  // two loads in flight: more would need too many registers
    for (int i = threadIdx.x; i < kBlockM * kBlockK; i += kThreads) {
#if GEMM_A_K_MAJOR
        const int m = i / kBlockK, k = i % kBlockK;  // neighbouring threads copy neighbours along k
#else
        const int m = i % kBlockM, k = i / kBlockM;  // neighbouring threads copy neighbours along m
#endif
        const bool inside = first_row + m < args.m && first_k + k < args.k;
        sA[offset_a(m, k)] = inside ? element_a(args, first_row + m, first_k + k) : 0.0f;
    }
}

// gB -> sB: (kBlockK, kBlockN) from (first_k, first_column) on. Elements beyond the edges of B become 0.
__device__ __forceinline__ void copy_panel_b(float* sB, const GemmArgs& args, int first_k, int first_column) {
#pragma unroll 2
    for (int i = threadIdx.x; i < kBlockK * kBlockN; i += kThreads) {
#if GEMM_B_K_MAJOR
        const int k = i % kBlockK, n = i / kBlockK;  // neighbouring threads copy neighbours along k
#else
        const int k = i / kBlockN, n = i % kBlockN;  // neighbouring threads copy neighbours along n
#endif
        const bool inside = first_k + k < args.k && first_column + n < args.n;
        sB[offset_b(k, n)] = inside ? element_b(args, first_k + k, first_column + n) : 0.0f;
    }
}
