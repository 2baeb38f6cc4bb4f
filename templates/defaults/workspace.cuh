#pragma once
// Where the parts of a workspace lie. A rendering prints those that its kernel has.
// The workspace holds, each on a 256-byte boundary:
#if GEMM_PACK_A
// - packed A
#endif
#if GEMM_PACK_B
// - packed B
#endif
#if GEMM_PARTIAL_SUMS
// - partial sums: (kSplitK, m, n rounded up to 4)
#elif GEMM_STREAM_K
// - sums of pieces, see partial_fragments
#endif
#if GEMM_PACK_A || GEMM_PACK_B
// A packed operand keeps its order. Its rows are padded to whole lines of L2, short rows to a half or a quarter of a
// line.

// Elements from one row of a packed operand to the next.
__device__ __forceinline__ long long packed_pitch(int columns) {
    return columns > 32 ? (columns + 63ll) / 64 * 64 : columns > 16 ? 32 : 16;
}
#endif
#if (GEMM_PACK_A || GEMM_PACK_B) && (GEMM_PACK_A && GEMM_PACK_B || GEMM_PARTIAL_SUMS || GEMM_STREAM_K)

__device__ __forceinline__ long long packed_bytes(int rows, int columns) {
    return (rows * packed_pitch(columns) * 2 + 255) / 256 * 256;
}
#endif
#if GEMM_PACK_A

#if GEMM_A_K_MAJOR
__device__ __forceinline__ int packed_rows_a(const GemmArgs& args) { return args.m; }
__device__ __forceinline__ int packed_columns_a(const GemmArgs& args) { return args.k; }
#else
__device__ __forceinline__ int packed_rows_a(const GemmArgs& args) { return args.k; }
__device__ __forceinline__ int packed_columns_a(const GemmArgs& args) { return args.m; }
#endif
__device__ __forceinline__ Bits* packed_a(const GemmArgs& args) { return reinterpret_cast<Bits*>(args.workspace); }
#if GEMM_PACK_B || GEMM_PARTIAL_SUMS || GEMM_STREAM_K
__device__ __forceinline__ char* behind_a(const GemmArgs& args) {
    return args.workspace + packed_bytes(packed_rows_a(args), packed_columns_a(args));
}
#endif
#endif
#if GEMM_PACK_B

#if GEMM_B_K_MAJOR
__device__ __forceinline__ int packed_rows_b(const GemmArgs& args) { return args.n; }
__device__ __forceinline__ int packed_columns_b(const GemmArgs& args) { return args.k; }
#else
__device__ __forceinline__ int packed_rows_b(const GemmArgs& args) { return args.k; }
__device__ __forceinline__ int packed_columns_b(const GemmArgs& args) { return args.n; }
#endif
#if GEMM_PACK_A
__device__ __forceinline__ Bits* packed_b(const GemmArgs& args) { return reinterpret_cast<Bits*>(behind_a(args)); }
#else
__device__ __forceinline__ Bits* packed_b(const GemmArgs& args) { return reinterpret_cast<Bits*>(args.workspace); }
#endif
#if GEMM_PARTIAL_SUMS || GEMM_STREAM_K
__device__ __forceinline__ char* behind_b(const GemmArgs& args) {
    return reinterpret_cast<char*>(packed_b(args)) + packed_bytes(packed_rows_b(args), packed_columns_b(args));
}
#endif
#endif
#if GEMM_PARTIAL_SUMS

__device__ __forceinline__ long long partials_pitch(int n) { return (n + 3ll) / 4 * 4; }
#if GEMM_PACK_B
__device__ __forceinline__ float* partials(const GemmArgs& args) { return reinterpret_cast<float*>(behind_b(args)); }
#elif GEMM_PACK_A
__device__ __forceinline__ float* partials(const GemmArgs& args) { return reinterpret_cast<float*>(behind_a(args)); }
#else
__device__ __forceinline__ float* partials(const GemmArgs& args) { return reinterpret_cast<float*>(args.workspace); }
#endif
#endif
#if GEMM_STREAM_K

#if GEMM_PACK_B
__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) { return behind_b(args); }
#elif GEMM_PACK_A
__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) { return behind_a(args); }
#else
__device__ __forceinline__ char* sums_of_pieces(const GemmArgs& args) { return args.workspace; }
#endif
#endif
#if GEMM_PACK_A || GEMM_PACK_B
#include "common/pack.cuh"
#include "common/pack_entry.cuh"
#endif
