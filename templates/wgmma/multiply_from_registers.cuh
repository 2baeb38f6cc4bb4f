#pragma once
#if GEMM_A_K_MAJOR

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
#else

// sA -> rA, M contiguous in sA: fragments of 16 rows by 16 of K. mma.sync m16n8k16 and a wgmma take the same fragments.
// A fragment is four 8x8 matrices, which ldmatrix transposes: rows 0 to 7, rows 8 to 15, then both for the next eight
// k.
struct FragmentsA {
    // The address of this lane's k of a matrix in a stage, for the fragment that begins at `row`, a multiple of 16. TMA
    // permutes the 16-byte chunks of one k of a panel by the address bits from 7 on (PTX ISA, "Swizzling Modes").
    static __device__ __forceinline__ unsigned place(int row, int lane) {
        const int k = lane / 16 * 8 + lane % 8;
        const int panel = row / kPanelElements;
        const unsigned offset = (panel * kBlockK + k) * kPanelBytes +
                                row % kPanelElements * (kPanelBytes / kPanelElements) + lane / 8 % 2 * 16;
        return offset ^ (offset >> 3 & (kPanelBytes - 16));
    }

    // The address `rows` rows (a multiple of 64) and `k_block` k-blocks further: whole panels and whole patterns of the
    // swizzle.
    static __device__ __forceinline__ unsigned moved(unsigned place, int rows, int k_block) {
        return place + (rows / kPanelElements * kBlockK + k_block * 16) * kPanelBytes;
    }
};
#endif

using PlaceA = unsigned;  // an address in shared memory

// This lane's address in the warp's first fragment in stage 0. The warpgroup tile begins at `row` of the block tile.
__device__ __forceinline__ PlaceA place_a(const SharedMemory& shared, int row) {
    const int warp = threadIdx.x / 32 % 4;
    const int lane = threadIdx.x % 32;
    return shared.stage_a(0) + FragmentsA::place(row + warp * 16, lane);
}

// sA -> rA, then rA, sB -> rC: issues the wgmmas of a k-tile, for rows 64 * kFirstRows to 64 * kEndRows of the
// warpgroup tile. `a` comes from place_a, `b` is the matrix descriptor of stage 0. A tile's first k-block sets the
// sums, the others add to them.
//
// kFragmentsA fragments take turns. Each wgmma is a group, and must end before its fragment is loaded again. So only
// the last kFragmentsA wgmmas of this k-tile are in flight on return, and none of earlier k-tiles.
template <bool kFirst, int kFirstRows = 0, int kEndRows = kTilesM>
__device__ __forceinline__ void multiply(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], PlaceA a,
                                         unsigned long long b, const RingPosition& ring) {
    constexpr int kTilesHere = kEndRows - kFirstRows;
    static_assert(kKBlocks * kTilesHere % kFragmentsA == 0, "the next k-tile begins with the first fragment");
    a += ring.stage * kStageBytes;
    b += ring.stage * (kStageBytes >> 4);
    unsigned rA[kFragmentsA][4];  // (kFragmentsA) fragments of 16 rows by 16 of K
#pragma unroll
    for (int k_block = 0; k_block < kKBlocks; ++k_block)
#pragma unroll
        for (int i = kFirstRows; i < kEndRows; ++i) {
            unsigned* const fragment = rA[(k_block * kTilesHere + i - kFirstRows) % kFragmentsA];
            wgmma_wait<kFragmentsA - 1>();
            ldmatrix_a(fragment, FragmentsA::moved(a, i * 64, k_block));
            wgmma_fence();
            wgmma(rC[i][0], fragment, b + OperandB::offset(0, k_block), !kFirst || k_block != 0);
            wgmma_commit();
        }
}
