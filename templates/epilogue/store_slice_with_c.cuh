#pragma once
#include "epilogue/store_element.cuh"

// A slice of 16 rows of sums, shared memory -> gD, finished with C. Neighbouring threads have neighbouring elements.
__device__ __forceinline__ float load_sum(unsigned address) {
    float sum;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(sum) : "r"(address) : "memory");
    return sum;
}

// Stores from (row, column) of D on, but nothing beyond D. When beta is 0, C is not read, whatever it holds.
template <int kColumns, bool kSwizzled>
__device__ __forceinline__ void store_slice(unsigned slice, const GemmArgs& args, const Edges& edges, int row,
                                            int column, int lane) {
    __syncwarp();  // all lanes have written the slice
    constexpr int kRowBytes = kColumns * 4;
    constexpr int kRows = 32 / kColumns;  // at once
    constexpr int kBatch = 8 / kRows;  // rows of C in flight at once; more take long to compile
    const int first_row = lane / kColumns;
    const int element = lane % kColumns;
    const int rows = first_row < kRows && column + element < edges.end_column ? min(16, edges.end_row - row) : 0;
    const bool is_read = c_factor(args) != 0.0f;
    const ElementC* c = args.c + (row + first_row) * args.ldc + column + element;
    ElementD* d = args.d + (row + first_row) * args.ldd + column + element;
#pragma unroll 1
    for (int r = first_row; r < rows; r += kBatch * kRows) {
        float addend[kBatch];
#pragma unroll
        for (int i = 0; i < kBatch; ++i, c += kRows * args.ldc)
            addend[i] = is_read && r + i * kRows < rows ? c_to_float(*c) : 0.0f;
#pragma unroll
        for (int i = 0; i < kBatch; ++i, d += kRows * args.ldd) {
            if (r + i * kRows >= rows) break;
            const unsigned chunk = chunk_address<kRowBytes, kSwizzled>(slice, r + i * kRows, element / 4);
            store(d, finish(args, load_sum(chunk + element % 4 * 4), addend[i]));
        }
    }
}
