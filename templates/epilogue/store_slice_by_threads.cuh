#pragma once

// A slice of 16 rows, shared memory -> gD. Rows go in vectors of kVectorBytes: neighbouring threads store neighbours.
// GEMM_WHERE_ROWS_BEGIN();
GEMM_VECTOR_OF_ROW();
constexpr int kVectorBytes = sizeof(Vector);
constexpr int kVectorElements = kVectorBytes / sizeof(ElementD);

#if GEMM_TYPE_D < 2 || GEMM_VECTOR_BYTES > 4 && (GEMM_TYPE_D == 2 || GEMM_TYPE_D == 7)
// Stores the first `elements` of a vector, at the end of a row.
__device__ __forceinline__ void store_elements(ElementD* d, const Vector& vector, int elements) {
    GEMM_STORE_ELEMENTS();
}

#endif
// Stores from (row, column) of D on, but nothing beyond D. A lane reads kBatch vectors before it stores the first: no
// other warp of the consumer would run while it waits.
template <int kColumns, bool kSwizzled>
GEMM_SLICE_BY_THREADS() {
    __syncwarp();  // all lanes have written the slice
    constexpr int kRowBytes = kColumns * sizeof(ElementD);
    constexpr int kVectors = kRowBytes / kVectorBytes;  // of a row
    constexpr int kRows = 32 / kVectors;  // at once
    constexpr int kBatch = 4;
    const int first_row = lane / kVectors;
    const int element = lane % kVectors * kVectorElements;
    const int chunk = lane % kVectors * kVectorBytes / 16;
    const int byte = lane % kVectors * kVectorBytes % 16;
    const int rows = lane < kRows * kVectors ? min(16, edges.end_row - row) : 0;
    const int columns = min(kColumns, edges.end_column - column);
    ElementD* d = args.d + (row + first_row) * args.ldd + column;
#pragma unroll 1
    for (int r = first_row; r < 16 + first_row; r += kBatch * kRows) {
        Vector vectors[kBatch];
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            vectors[i] = load_vector(chunk_address<kRowBytes, kSwizzled>(slice, (r + i * kRows) % 16, chunk) + byte);
        GEMM_NEXT_VECTORS();
#pragma unroll
        for (int i = 0; i < kBatch; ++i, d += kRows * args.ldd) {
            const bool is_row = r + i * kRows < rows;
            GEMM_PLACE_OF_VECTOR();
            if (is_row && left >= kVectorElements) *reinterpret_cast<Vector*>(target) = vector;
            GEMM_STORE_CUT_VECTOR();
        }
    }
}
#if GEMM_SYMMETRIC && !GEMM_STORE_TMA

// The same, and the mirror of a slice above the diagonal, 16 of its rows at a time.
template <int kColumns, bool kSwizzled>
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, const Edges& edges, int row,
                                            int column, int lane) {
    store_slice_by_threads<kColumns, kSwizzled>(slice, args, edges, row, column, lane);
    if (!is_above_diagonal(row, column)) return;
#pragma unroll 1
    for (int below = 0; below < kColumns; below += 16)
        store_slice_by_threads<16, kSwizzledMirrors>(slice + kSliceBytesOfD + below * kMirrorRowBytes, args, edges,
                                                     column + below, row, lane);
}
#endif
