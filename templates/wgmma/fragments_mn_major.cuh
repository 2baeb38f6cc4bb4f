#pragma once

// sA -> rA, M contiguous in sA: fragments of 16 rows by 16 of K. mma.sync m16n8k16 and a wgmma take the same fragments.
// A fragment is four 8x8 matrices, which ldmatrix transposes: rows 0 to 7, rows 8 to 15, then both for the next eight
// k.
struct FragmentsA {
    // The address of this lane's k of a matrix in a stage, for the fragment that begins at `row`, a multiple of 16. TMA
    // permutes the 16-byte chunks of one k of a panel by the address bits from 7 on (PTX ISA, "Swizzling Modes").
    static __device__ __forceinline__ unsigned place(int row, int lane) {
        const int k = lane / 16 * 8 + lane % 8;
        const int panel = row / kPanelElements;
        const unsigned offset = (panel * kBlockK + k) * kPanelBytes + row % kPanelElements * 2 + lane / 8 % 2 * 16;
        return offset ^ (offset >> 3 & (kPanelBytes - 16));
    }

    // The address `rows` rows (a multiple of 64) and `k_block` k-blocks further: whole panels and whole patterns of the
    // swizzle.
    static __device__ __forceinline__ unsigned moved(unsigned place, int rows, int k_block) {
        return place + (rows / kPanelElements * kBlockK + k_block * 16) * kPanelBytes;
    }
};
