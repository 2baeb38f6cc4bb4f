#pragma once
// The workspace: packed A, packed B, partial sums, each on a 256-byte boundary.
__device__ __forceinline__ long long on_boundary(long long bytes) { return (bytes + 255) / 256 * 256; }
#if GEMM_PACK_A || GEMM_PACK_B

// Elements from one row of a packed operand to the next.
__device__ __forceinline__ long long packed_pitch(int columns) { return (columns + 7ll) / 8 * 8; }
#endif
#if GEMM_PACK_A

// Packed A keeps A's order: its rows run along k, or along m where A is column-major.
#if GEMM_A_K_MAJOR
__device__ __forceinline__ int packed_rows_a(const GemmArgs& args) { return args.m; }
__device__ __forceinline__ int packed_columns_a(const GemmArgs& args) { return args.k; }
#else
__device__ __forceinline__ int packed_rows_a(const GemmArgs& args) { return args.k; }
__device__ __forceinline__ int packed_columns_a(const GemmArgs& args) { return args.m; }
#endif
__device__ __forceinline__ Bits* packed_a(const GemmArgs& args) { return reinterpret_cast<Bits*>(args.workspace); }
__device__ __forceinline__ long long packed_bytes_a(const GemmArgs& args) {
    return on_boundary(packed_rows_a(args) * packed_pitch(packed_columns_a(args)) * 2);
}
#else
__device__ __forceinline__ long long packed_bytes_a(const GemmArgs&) { return 0; }
#endif
#if GEMM_PACK_B

// Packed B keeps B's order: its rows run along k, or along n where B is row-major.
#if GEMM_B_K_MAJOR
__device__ __forceinline__ int packed_rows_b(const GemmArgs& args) { return args.n; }
__device__ __forceinline__ int packed_columns_b(const GemmArgs& args) { return args.k; }
#else
__device__ __forceinline__ int packed_rows_b(const GemmArgs& args) { return args.k; }
__device__ __forceinline__ int packed_columns_b(const GemmArgs& args) { return args.n; }
#endif
__device__ __forceinline__ Bits* packed_b(const GemmArgs& args) { return reinterpret_cast<Bits*>(args.workspace + packed_bytes_a(args)); }
__device__ __forceinline__ long long packed_bytes_b(const GemmArgs& args) {
    return on_boundary(packed_rows_b(args) * packed_pitch(packed_columns_b(args)) * 2);
}
#elif GEMM_PARTIAL_SUMS
__device__ __forceinline__ long long packed_bytes_b(const GemmArgs&) { return 0; }
#endif
#if GEMM_PARTIAL_SUMS

// Partial sums: (kSplitK, m, n rounded up to 4).
__device__ __forceinline__ long long slab_pitch(int n) { return (n + 3ll) / 4 * 4; }
__device__ __forceinline__ float* slabs(const GemmArgs& args) {
    return reinterpret_cast<float*>(args.workspace + packed_bytes_a(args) + packed_bytes_b(args));
}
#endif
