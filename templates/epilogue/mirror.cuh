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
GEMM_STORE_COLUMN();

// Writes the mirror of the j-th eight columns: a thread's pairs in rows g and g + 8.
__device__ __forceinline__ void stage_mirror(unsigned slice, const Atom& atom, int j, int lane) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
        const unsigned byte = (lane / 4 + pair * 8) * sizeof(Staged);  // in the mirror's row
        const unsigned chunk = mirror_address(slice, j * 8 + lane % 4 * 2, byte / 16);
        GEMM_STORE_MIRRORED_PAIR();
    }
}
#endif
