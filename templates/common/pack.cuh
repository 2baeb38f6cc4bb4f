#pragma once
#include "common/realign.cuh"
#include "common/keep_first.cuh"
// First entry: copies an operand that is not aligned for wide copies into the workspace. Its rows are padded to
// packed_pitch. The extra pass pays where the main kernel reads each element often.

// A matrix (rows, columns) with pitch ld, and its copy. A thread moves vectors of eight elements.
struct Packing {
    const Bits* matrix;
    long long ld;
    int rows, columns;
    Bits* packed;

    __device__ __forceinline__ unsigned vectors() const { return rows * ((columns + 7u) / 8); }

    __device__ __forceinline__ void move(unsigned vector) const {
        const WholeChunks whole(matrix, matrix + (rows - 1) * ld + columns);
        const unsigned per_row = (columns + 7u) / 8;
        const int row = vector / per_row;
        const int column = vector % per_row * 8;
        const Bits* source = matrix + row * ld + column;
        const uint4 value = whole.contain(source) ? realign(load_raw(source, true), misalignment_of(source))
                                                  : load_elements(source, columns - column);
        *reinterpret_cast<uint4*>(packed + row * packed_pitch(columns) + column) = keep_first(value, columns - column);
    }
};

// There are fewer than 2^32 - 2^24 vectors and at most 2^24 threads, so `vector += step` never wraps.
extern "C" __global__ void __launch_bounds__(kPackThreads) gemm_pack(const GemmArgs args) {
#if GEMM_DEPENDENT_LAUNCH
    launch_dependent_grids();
    wait_on_dependent_grids();
#endif
#if GEMM_PACK_A
    const Packing a{args.a, args.lda, packed_rows_a(args), packed_columns_a(args), packed_a(args)};
#endif
#if GEMM_PACK_B
    const Packing b{args.b, args.ldb, packed_rows_b(args), packed_columns_b(args), packed_b(args)};
#endif
#if GEMM_PACK_A && GEMM_PACK_B
    const unsigned vectors_a = a.vectors();
    const unsigned vectors = vectors_a + b.vectors();
#elif GEMM_PACK_A
    const unsigned vectors = a.vectors();
#else
    const unsigned vectors = b.vectors();
#endif
#pragma unroll 1
    for (unsigned v = blockIdx.x * kPackThreads + threadIdx.x; v < vectors; v += gridDim.x * kPackThreads) {
#if GEMM_PACK_A && GEMM_PACK_B
        if (v < vectors_a)
            a.move(v);
        else
            b.move(v - vectors_a);
#elif GEMM_PACK_A
        a.move(v);
#else
        b.move(v);
#endif
    }
}
