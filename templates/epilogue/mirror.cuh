#pragma once

// D is symmetric. Squares of kSliceColumns rows and columns lie on its diagonal. A slice of such a square is stored
// once, a slice above the squares twice: its transpose, the mirror, goes below them. Slices there are not stored, so
// that each element of D is written once. Behind a slice in shared memory lies its mirror: kSliceColumns rows of 16
// elements, which TMA swizzles.
constexpr int kMirrorRowBytes = 16 * static_cast<int>(sizeof(Staged));
constexpr bool kSwizzledMirrors = kMirrorRowBytes > 16;

__device__ __forceinline__ bool is_above_diagonal(int row, int column) {
    return row / kSliceColumns < column / kSliceColumns;
}
__device__ __forceinline__ bool is_below_diagonal(int row, int column) {
    return row / kSliceColumns > column / kSliceColumns;
}

// The address of a 16-byte chunk of a row of the mirror.
__device__ __forceinline__ unsigned mirror_address(unsigned slice, int row, int chunk) {
    return chunk_address<kMirrorRowBytes, kSwizzledMirrors>(slice + kSliceBytesOfD, row, chunk);
}
#if GEMM_SLICE_F32 || GEMM_TYPE_D >= 4

// Two neighbours of a row of the slice, which lie in one column of the mirror.
#if GEMM_TYPE_D == 7
__device__ __forceinline__ void store_column(unsigned address, int2 pair) {
    asm volatile("st.shared.b32 [%0], %1; st.shared.b32 [%0 + %3], %2;" ::"r"(address), "r"(pair.x), "r"(pair.y),
                 "n"(kMirrorRowBytes)
                 : "memory");
}
#elif GEMM_TYPE_D == 2
__device__ __forceinline__ void store_column(unsigned address, float2 pair) {
    asm volatile("st.shared.f32 [%0], %1; st.shared.f32 [%0 + %3], %2;" ::"r"(address), "f"(pair.x), "f"(pair.y),
                 "n"(kMirrorRowBytes)
                 : "memory");
}
#else
__device__ __forceinline__ void store_column(unsigned address, unsigned short pair) {
    asm volatile("st.shared.b8 [%0], %1; st.shared.b8 [%0 + %3], %2;" ::"r"(address), "h"(pair),
                 "h"(static_cast<unsigned short>(pair >> 8)), "n"(kMirrorRowBytes)
                 : "memory");
}
#endif

// Writes the mirror of the j-th eight columns: a thread's pairs in rows g and g + 8.
__device__ __forceinline__ void stage_mirror(unsigned slice, const Atom& atom, int j, int lane) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
        const unsigned byte = (lane / 4 + pair * 8) * sizeof(Staged);  // in the mirror's row
        const unsigned chunk = mirror_address(slice, j * 8 + lane % 4 * 2, byte / 16);
#if GEMM_EXACT_SUMS || GEMM_TYPE_D == 2
        store_column(chunk + byte % 16, atom.pair[pair]);
#else
        store_column(chunk + byte % 16, pack_d(atom.pair[pair].x, atom.pair[pair].y));
#endif
    }
}
#endif
