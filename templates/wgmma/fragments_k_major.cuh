#pragma once

// sA -> rA, K contiguous in sA: fragments of 16 rows by 16 of K. mma.sync m16n8k16 and a wgmma take the same fragments.
// A fragment is four 8x8 matrices: rows 0 to 7, rows 8 to 15, then both for the next eight k.
struct FragmentsA {
    // The address of this lane's matrix row in a stage, for the fragment that begins at `row`, a multiple of 16. TMA
    // permutes the 16-byte chunks of a panel's row by the address bits from 7 on (PTX ISA, "Swizzling Modes").
    static __device__ __forceinline__ unsigned place(int row, int lane) {
        const unsigned offset = (row + lane % 16) * kPanelBytes + lane / 16 * 16;
        return offset ^ (offset >> 3 & (kPanelBytes - 16));
    }

    // The address `rows` rows (a multiple of 64) and `k_block` k-blocks further. 64 rows are whole patterns of the
    // swizzle. Within a row, k-blocks change bits that are zero in the unswizzled `place`.
    static __device__ __forceinline__ unsigned moved(unsigned place, int rows, int k_block) {
        const int k_byte = k_block * 32;
        return (place ^ k_byte % kPanelBytes) + (k_byte / kPanelBytes * kBlockM + rows) * kPanelBytes;
    }
};
