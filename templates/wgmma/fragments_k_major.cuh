#pragma once
// sA -> rA, K contiguous in sA: fragments of 16 rows by 16 of K, as a warp has them for mma.sync m16n8k16 and for its rows of a wgmma.
// They are four 8x8 matrices: rows 0 to 7 and 8 to 15, then the same of the next eight k.
struct FragmentsA {
    // Where this lane's row of the four lies in a stage, for the fragment that begins at `row`, a multiple of 16. Of each row of a
    // panel the 16-byte chunks are permuted by bits 7 and on of the address (PTX ISA, "Swizzling Modes").
    static __device__ __forceinline__ unsigned place(int row, int lane) {
        const unsigned offset = (row + lane % 16) * kPanelBytes + lane / 16 * 16;
        return offset ^ (offset >> 3 & (kPanelBytes - 16));
    }

    // The same so many rows, a multiple of 64, and k-blocks further. Rows are whole patterns of the swizzle, and within a row k-blocks
    // change other bits than `place` has set.
    static __device__ __forceinline__ unsigned moved(unsigned place, int rows, int k_block) {
        const int k_byte = k_block * 32;
        return (place ^ k_byte % kPanelBytes) + (k_byte / kPanelBytes * kBlockM + rows) * kPanelBytes;
    }
};
