#pragma once

// A slice of 16 rows, shared memory -> gD. Rows go in vectors of kVectorBytes: neighbouring threads store neighbours.
#if GEMM_SHIFT_ROWS
// D's rows begin at any multiple of 2 bytes, vectors at multiples of 4. Where a row begins between these, its first
// element is stored by itself, and the vectors begin at the second.
#endif
#if GEMM_TYPE_D > 3 && GEMM_TYPE_D < 7
// D's rows are whole vectors.
#endif
#if GEMM_VECTOR_BYTES == 4
using Vector = unsigned;
__device__ __forceinline__ Vector load_vector(unsigned address) {
    Vector vector;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(vector) : "r"(address) : "memory");
    return vector;
}
#elif GEMM_VECTOR_BYTES == 8
using Vector = uint2;
__device__ __forceinline__ Vector load_vector(unsigned address) {
    Vector vector;
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(vector.x), "=r"(vector.y) : "r"(address) : "memory");
    return vector;
}
#if GEMM_TYPE_D < 4 || GEMM_TYPE_D == 7
__device__ __forceinline__ unsigned word(Vector vector, int i) { return i == 0 ? vector.x : vector.y; }
#endif
#else
using Vector = uint4;
__device__ __forceinline__ Vector load_vector(unsigned address) {
    Vector vector;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(vector.x), "=r"(vector.y), "=r"(vector.z), "=r"(vector.w)
                 : "r"(address)
                 : "memory");
    return vector;
}
#if GEMM_TYPE_D < 4 || GEMM_TYPE_D == 7
__device__ __forceinline__ unsigned word(const Vector& vector, int i) {
    return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}
#endif
#endif
constexpr int kVectorBytes = sizeof(Vector);
constexpr int kVectorElements = kVectorBytes / sizeof(ElementD);

#if GEMM_TYPE_D < 2 || GEMM_VECTOR_BYTES > 4 && (GEMM_TYPE_D == 2 || GEMM_TYPE_D == 7)
// Stores the first `elements` of a vector, at the end of a row.
__device__ __forceinline__ void store_elements(ElementD* d, const Vector& vector, int elements) {
#if GEMM_VECTOR_BYTES == 4
    if (elements > 0) d[0] = static_cast<ElementD>(vector);
#else
#pragma unroll
    for (int i = 0; i < kVectorElements - 1; ++i)
#if GEMM_TYPE_D == 2
        if (i < elements) d[i] = __uint_as_float(word(vector, i));
#elif GEMM_TYPE_D == 7
        if (i < elements) d[i] = static_cast<int>(word(vector, i));
#else
        if (i < elements) d[i] = static_cast<ElementD>(word(vector, i / 2) >> i % 2 * 16);
#endif
#endif
}

#endif
// Stores from (row, column) of D on, but nothing beyond D. A lane reads kBatch vectors before it stores the first: no
// other warp of the consumer would run while it waits.
template <int kColumns, bool kSwizzled>
#if GEMM_STORE_TMA || GEMM_SYMMETRIC
__device__ __forceinline__ void store_slice_by_threads(unsigned slice, const GemmArgs& args, const Edges& edges,
                                                       int row, int column, int lane) {
#else
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, const Edges& edges, int row,
                                            int column, int lane) {
#endif
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
#if GEMM_SHIFT_ROWS
        Vector next[kBatch];  // the next vector of the row; unused at its end
#pragma unroll
        for (int i = 0; i < kBatch; ++i) next[i] = __shfl_down_sync(0xffffffff, vectors[i], 1);
#endif
#pragma unroll
        for (int i = 0; i < kBatch; ++i, d += kRows * args.ldd) {
            const bool is_row = r + i * kRows < rows;
#if GEMM_SHIFT_ROWS
            const bool is_shifted = reinterpret_cast<unsigned long long>(d) & 2;
            const Vector vector = is_shifted ? __funnelshift_r(vectors[i], next[i], 16) : vectors[i];
            ElementD* const target = d + element + is_shifted;
            const int left = columns - element - is_shifted;  // elements of the row from here on
            if (is_row && is_shifted && element == 0 && columns > 0) d[0] = static_cast<ElementD>(vectors[i]);
#else
            const Vector& vector = vectors[i];
            ElementD* const target = d + element;
            const int left = columns - element;  // elements of the row from here on
#endif
            if (is_row && left >= kVectorElements) *reinterpret_cast<Vector*>(target) = vector;
#if GEMM_TYPE_D < 2 || GEMM_VECTOR_BYTES > 4 && (GEMM_TYPE_D == 2 || GEMM_TYPE_D == 7)
            if (is_row && left < kVectorElements) store_elements(target, vector, left);
#endif
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
