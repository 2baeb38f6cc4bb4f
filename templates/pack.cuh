#pragma once
#include "realign.cuh"
#include "keep_first.cuh"
// First entries: operands too little aligned for wide copies are moved into the workspace, rows padded to 16 bytes. It costs a
// pass over the operand and pays as soon as each element is used often.

// Copies (rows, columns) with pitch ld to rows of packed_pitch(columns); a thread moves vectors of eight elements. There are
// fewer than 2^31 of them, and of threads no more: a step never wraps.
__device__ __forceinline__ void pack(const Bits* matrix, long long ld, int rows, int columns, Bits* packed) {
    if (rows == 0 || columns == 0) return;
    const WholeChunks whole(matrix, matrix + (rows - 1) * ld + columns);
    const unsigned per_row = (columns + 7u) / 8;
    const unsigned vectors = rows * per_row;
#pragma unroll 1
    for (unsigned v = blockIdx.x * kPackThreads + threadIdx.x; v < vectors; v += gridDim.x * kPackThreads) {
        const int row = v / per_row;
        const int column = v % per_row * 8;
        const Bits* source = matrix + row * ld + column;
        const uint4 value = whole.contain(source) ? realign(load_raw(source, true), misalignment_of(source))
                                                  : load_elements(source, columns - column);
        *reinterpret_cast<uint4*>(packed + static_cast<long long>(v) * 8) = keep_first(value, columns - column);
    }
}
#if GEMM_PACK_A

extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_pack_a(const GemmArgs args) {
    pack(args.a, args.lda, packed_rows_a(args), packed_columns_a(args), packed_a(args));
}
#endif
#if GEMM_PACK_B

extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_pack_b(const GemmArgs args) {
    pack(args.b, args.ldb, packed_rows_b(args), packed_columns_b(args), packed_b(args));
}
#endif
