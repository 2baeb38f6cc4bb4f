#pragma once
#include "common/numeric.cuh"
#include "epilogue/atom.cuh"
#if GEMM_READ_C && !GEMM_SLICE_OF_SUMS
#include "epilogue/finish_element.cuh"
#else
#include "epilogue_expression.cuh"
#endif
#if GEMM_BROADCAST_C
#include "epilogue/broadcast_c_row.cuh"
#endif
#include "epilogue/staging.cuh"
#if GEMM_STORE_TMA
// rC -> sD -> gD. A warp lays slices of 16 rows by kSliceColumns into its own part of shared memory, finished and converted, and
// has TMA store each; kSlices of them may be in flight, while the warp goes on.
#else
// rC -> sD -> gD. A warp lays slices of 16 rows by kSliceColumns into its own part of shared memory, and stores the rows of each.
#endif
constexpr bool kSwizzledSlices = kSliceColumns * sizeof(Staged) > 16;

// Where row and 16-byte chunk of a slice lie. TMA permutes the chunks of rows of 32, 64 and 128 bytes by bits 7 and on of the
// address (PTX ISA, "Swizzling Modes").
template <int kRowBytes, bool kSwizzled>
__device__ __forceinline__ unsigned chunk_address(unsigned slice, int row, int chunk) {
    const unsigned address = slice + row * kRowBytes + chunk * 16;
    return kSwizzled ? address ^ (address >> 3 & (kRowBytes - 16)) : address;
}

#if GEMM_SLICE_F32
__device__ __forceinline__ void store_shared(unsigned address, float2 pair) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(pair.x), "f"(pair.y) : "memory");
}
#else
// 8x8 matrices of 16-bit elements from the fragments of a warp, a register each; lane l gives the address of row l % 8 of matrix
// l / 8.
#if GEMM_STMATRIX
__device__ __forceinline__ void stmatrix(unsigned address, const unsigned (&r)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r[0]),
                 "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
}
#endif
#if GEMM_STMATRIX_X2
__device__ __forceinline__ void stmatrix(unsigned address, const unsigned (&r)[2]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(r[0]), "r"(r[1])
                 : "memory");
}
#endif
#endif

#if GEMM_READ_C && !GEMM_SLICE_OF_SUMS
// Two neighbours; what lies beyond C's edges is not read.
__device__ __forceinline__ float2 finish_pair(const GemmArgs& args, int row, int column, float2 sum) {
    if (row < args.m && column < args.n) sum.x = finish_element(args, row, column, sum.x);
    if (row < args.m && column + 1 < args.n) sum.y = finish_element(args, row, column + 1, sum.y);
    return sum;
}
__device__ __forceinline__ Atom finish_atom(const Accumulator* sums, const GemmArgs& args, int row, int column,
                                            int lane) {
    row += lane / 4;
    column += lane % 4 * 2;
    const Atom atom = atom_of(sums);
    return {finish_pair(args, row, column, atom.pair[0]), finish_pair(args, row + 8, column, atom.pair[1])};
}
#endif

#if GEMM_C_TMA
// Eight columns of C, as stage_slice lays those of D: a thread's pairs.
template <int kRowBytes, bool kSwizzled>
__device__ __forceinline__ Atom load_c(unsigned panel, const PartOfC& c, int j, int lane) {
#if GEMM_SLICE_F32
    Atom atom;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
        const int row = c.row + (lane / 4 + pair * 8) * c.row_step;
        const unsigned address = chunk_address<kRowBytes, kSwizzled>(panel, row, j * 2 + lane % 4 / 2) + lane % 2 * 8;
        asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                     : "=f"(atom.pair[pair].x), "=f"(atom.pair[pair].y)
                     : "r"(address)
                     : "memory");
    }
    return atom;
#else
    // Two 8x8 matrices, of lanes 0 to 15 the rows; the fragments are those of stmatrix.
    unsigned r[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(chunk_address<kRowBytes, kSwizzled>(panel, c.row + lane % 16 * c.row_step, j))
                 : "memory");
    const auto pair = [&](unsigned bits) {
        return make_float2(c_to_float(static_cast<Bits>(bits)), c_to_float(static_cast<Bits>(bits >> 16)));
    };
    return {pair(r[0]), pair(r[1])};
#endif
}

// The sums of a slice and the panel of C that is added to them.
struct SliceWithC {
    const Accumulator (*sums)[kRegistersC];
    const GemmArgs& args;
    const PartOfC& c;
    unsigned panel;
    int lane;

    template <int kRowBytes, bool kSwizzled>
    __device__ __forceinline__ Atom atom(int j) const {
        return finish(args, atom_of(sums[j]), [&] { return load_c<kRowBytes, kSwizzled>(panel, c, j, lane); });
    }
};

template <int kColumns, bool kSwizzled>
__device__ __forceinline__ void stage_slice(unsigned slice, const SliceWithC& with_c, int lane) {
    constexpr int kRowBytes = kColumns * sizeof(Staged);
    const auto finished = [&](int j) { return with_c.atom<kRowBytes, kSwizzled>(j); };
#else
// One slice; `finished` gives its atoms, of eight columns each.
template <int kColumns, bool kSwizzled, typename Finished>
__device__ __forceinline__ void stage_slice(unsigned slice, const Finished& finished, int lane) {
    constexpr int kRowBytes = kColumns * sizeof(Staged);
#endif
#if GEMM_SLICE_F32
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
        const Atom atom = finished(j);
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
            store_shared(
                chunk_address<kRowBytes, kSwizzled>(slice, lane / 4 + pair * 8, j * 2 + lane % 4 / 2) + lane % 2 * 8,
                atom.pair[pair]);
    }
#else
    const auto packed = [](float2 pair) { return pack_d(pair.x, pair.y); };
#if GEMM_STMATRIX
#pragma unroll
    for (int j = 0; j + 1 < kColumns / 8; j += 2) {
        const Atom left = finished(j), right = finished(j + 1);
        stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j + lane / 16),
                 {packed(left.pair[0]), packed(left.pair[1]), packed(right.pair[0]), packed(right.pair[1])});
    }
#endif
#if GEMM_STMATRIX_X2
    if constexpr (kColumns % 16 != 0) {
        const Atom last = finished(kColumns / 8 - 1);
        stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, kColumns / 8 - 1),
                 {packed(last.pair[0]), packed(last.pair[1])});
    }
#endif
#endif
}

#if GEMM_SLICE_OF_SUMS
#include "epilogue/store_slice_with_c.cuh"
#elif !GEMM_STORE_TMA
#include "epilogue/store_slice.cuh"
#endif

// Of 64 rows of a warpgroup tile the 16 that are this warp's: (row, column) of D on.
#if GEMM_C_TMA || GEMM_BROADCAST_C
__device__ __forceinline__ void store_rows(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args, int row,
                                           int column, Staging& staging, const PartOfC& c, int lane) {
#else
__device__ __forceinline__ void store_rows(const Accumulator (&rC)[kTilesN][kRegistersC], const GemmArgs& args, int row,
                                           int column, Staging& staging, int lane) {
#endif
    constexpr int kWhole = kWarpgroupN / kSliceColumns;
#pragma unroll
#if GEMM_REST_COLUMNS
    for (int i = 0; i <= kWhole; ++i) {
#else
    for (int i = 0; i < kWhole; ++i) {
#endif
        const unsigned slice = staging.take();
        const int slice_column = column + i * kSliceColumns;
#if GEMM_STORE_TMA
        if (lane == 0) tma_store_wait_read<kSlices - 1>();  // of the store that last used this part
#endif
        __syncwarp();
        const auto* const sums = rC + i * kSliceColumns / 8;
#if GEMM_SLICE_OF_SUMS
        const auto finished = [&](int j) { return atom_of(sums[j]); };  // store_slice finishes them
#endif
#if GEMM_READ_C && !GEMM_SLICE_OF_SUMS
        const auto finished = [&](int j) { return finish_atom(sums[j], args, row, slice_column + j * 8, lane); };
#endif
#if GEMM_BROADCAST_C
        const auto finished = [&](int j) {
            const float2 addend = c.of_atom(i * kSliceColumns + j * 8, lane);
            return finish(args, atom_of(sums[j]), [&] { return Atom{{addend, addend}}; });
        };
#endif
#if GEMM_C_TMA
        const SliceWithC finished{sums, args, c, c.panel(i), lane};
#elif !GEMM_READ_C && !GEMM_BROADCAST_C
        const auto finished = [&](int j) { return finish(args, atom_of(sums[j])); };
#endif
#if GEMM_REST_COLUMNS
        if (i == kWhole)
            stage_slice<kRestColumns, false>(slice, finished, lane);
        else
            stage_slice<kSliceColumns, kSwizzledSlices>(slice, finished, lane);
#else
        stage_slice<kSliceColumns, kSwizzledSlices>(slice, finished, lane);
#endif
#if GEMM_STORE_TMA
        fence_proxy_async();
        __syncwarp();
        if (lane == 0) {
#if GEMM_REST_COLUMNS
            tma_store(slice, i == kWhole ? args.map_d_rest : args.map_d, slice_column, row);
#else
            tma_store(slice, args.map_d, slice_column, row);
#endif
            tma_store_commit();
        }
#else
        __syncwarp();
#if GEMM_REST_COLUMNS
        if (i == kWhole)
            store_slice<kRestColumns, false>(slice, args, row, slice_column, lane);
        else
            store_slice<kSliceColumns, kSwizzledSlices>(slice, args, row, slice_column, lane);
#else
        store_slice<kSliceColumns, kSwizzledSlices>(slice, args, row, slice_column, lane);
#endif
#endif
    }
}
#include "epilogue/store_tile.cuh"
