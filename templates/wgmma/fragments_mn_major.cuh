#pragma once
// sA -> rA, M contiguous in sA: fragments of 16 rows by 16 of K, as a warp has them for mma.sync m16n8k16 and for its rows of a wgmma.
// They are four 8x8 matrices, which ldmatrix transposes: rows 0 to 7 and 8 to 15, then the same of the next eight k.
struct FragmentsA {
    // Where this lane's k of the four lies in a stage, for the fragment that begins at `row`, a multiple of 16. Of each k of a panel
    // the 16-byte chunks are permuted by bits 7 and on of the address (PTX ISA, "Swizzling Modes").
    static __device__ __forceinline__ unsigned place(int row, int lane) {
        const int k = lane / 16 * 8 + lane % 8;
        const int panel = row / kPanelElements;
        const unsigned offset = (panel * kBlockK + k) * kPanelBytes + row % kPanelElements * 2 + lane / 8 % 2 * 16;
        return offset ^ (offset >> 3 & (kPanelBytes - 16));
    }

    // The same so many rows, a multiple of 64, and k-blocks further: whole panels, and whole patterns of the swizzle.
    static __device__ __forceinline__ unsigned moved(unsigned place, int rows, int k_block) {
        return place + (rows / kPanelElements * kBlockK + k_block * 16) * kPanelBytes;
    }
};
