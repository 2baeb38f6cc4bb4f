#pragma once
#include "epilogue/load_c.cuh"

// C is a bias: one row, added to every row of D. A warp reads a tile's part of it at once, while the last wgmmas run,
// and passes each thread the elements for its sums.
#if GEMM_PAIRS_OF_C && GEMM_TYPE_C == 2
using PairOfC = float2;  // as stored
__device__ __forceinline__ float2 to_float(PairOfC pair) { return pair; }
__device__ __forceinline__ PairOfC shuffle(PairOfC pair, int lane) {
    return make_float2(__shfl_sync(0xffffffff, pair.x, lane), __shfl_sync(0xffffffff, pair.y, lane));
}
__device__ __forceinline__ PairOfC load_pair_of_c(const ElementC* c, int columns) {
    PairOfC pair;
    asm volatile(
        "{ .reg .pred p; setp.ne.s32 p, %3, 0; mov.f32 %0, 0f00000000; mov.f32 %1, 0f00000000; "
        "@p ld.global.v2.f32 {%0, %1}, [%2]; }"
        : "=f"(pair.x), "=f"(pair.y)
        : "l"(c), "r"(static_cast<int>(columns > 0)));
    return pair;
}
#elif GEMM_PAIRS_OF_C
using PairOfC = unsigned;  // as stored
__device__ __forceinline__ float2 to_float(PairOfC pair) {
    return make_float2(c_to_float(static_cast<Bits>(pair)), c_to_float(static_cast<Bits>(pair >> 16)));
}
__device__ __forceinline__ PairOfC shuffle(PairOfC pair, int lane) { return __shfl_sync(0xffffffff, pair, lane); }
__device__ __forceinline__ PairOfC load_pair_of_c(const ElementC* c, int columns) {
    PairOfC pair;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; mov.b32 %0, 0; @p ld.global.b32 %0, [%1]; }"
                 : "=r"(pair)
                 : "l"(c), "r"(static_cast<int>(columns > 0)));
    return pair;
}
#else
struct PairOfC {
    ElementC x, y;
};
__device__ __forceinline__ float2 to_float(PairOfC pair) { return make_float2(c_to_float(pair.x), c_to_float(pair.y)); }
__device__ __forceinline__ PairOfC shuffle(PairOfC pair, int lane) {
    return {static_cast<ElementC>(__shfl_sync(0xffffffff, pair.x, lane)),
            static_cast<ElementC>(__shfl_sync(0xffffffff, pair.y, lane))};
}
__device__ __forceinline__ PairOfC load_pair_of_c(const ElementC* c, int columns) {
    return {load_c(c, columns > 0), load_c(c + 1, columns > 1)};
}
#endif

// C for the columns of a warpgroup tile: lane l has pair l of every 64 columns.
struct PartOfC {
    static constexpr int kRegisters = (kWarpgroupN + 63) / 64;
    PairOfC pairs[kRegisters];

    // The part that begins at a column of D. Nothing is read when beta is 0, and nothing beyond the row.
    __device__ __forceinline__ PartOfC(const GemmArgs& args, const Edges& edges, int /*any row*/, int column,
                                       int lane) {
        column += lane * 2;
        const int columns = c_factor(args) == 0.0f ? 0 : edges.end_column - column;
        const ElementC* const c = args.c + column;
#pragma unroll
        for (int i = 0; i < kRegisters; ++i) pairs[i] = load_pair_of_c(c + i * 64, columns - i * 64);
    }

    // The elements of C for the j-th atom of a slice.
    __device__ __forceinline__ Atom atom(int slice, int j, int lane) const {
        const int column = slice * kSliceColumns + j * 8;
        const float2 pair = to_float(shuffle(pairs[column / 64], column % 64 / 2 + lane % 4));
        return {{pair, pair}};
    }

#if !GEMM_OVERLAPPED
    // All rows of D have the same C.
    __device__ __forceinline__ const PartOfC& below(int /*distance*/) const { return *this; }
#endif
};

// Fetches a tile's part of C into L1, long before a warp reads it.
__device__ __forceinline__ void prefetch_c(const GemmArgs& args, const Tile& tile) {
    constexpr int kLine = 128 / sizeof(ElementC);
    const int end = c_factor(args) == 0.0f ? 0 : min(tile.column + kBlockN, tile.end_column);
#pragma unroll 1
    for (int column = tile.column; column < end; column += kLine)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(args.c + column));
}
