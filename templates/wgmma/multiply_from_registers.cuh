#pragma once
#include "fragments_a.cuh"
// sA -> rA, and rA, sB -> rC for the wgmmas of that k-tile: rows 64 * kFirstRows and on of the warpgroup tile, up to 64 * kEndRows.
// `a` is where this lane's row of the warp's first fragment lies in stage 0, `b` the matrix descriptor of stage 0. A tile's first
// k-block sets the sums, the others add to them.
//
// kFragmentsA fragments take turns. Each wgmma is a group, and is waited for before the fragment that it reads is loaded anew: the
// wgmmas in flight behind this are the last kFragmentsA of these, and none from before.
template <bool kFirst, int kFirstRows = 0, int kEndRows = kTilesM>
__device__ __forceinline__ void multiply(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], unsigned a,
                                         unsigned long long b, const RingPosition& ring) {
    constexpr int kTilesHere = kEndRows - kFirstRows;
    static_assert(kKBlocks * kTilesHere % kFragmentsA == 0, "the next k-tile begins with the first fragment");
    a += ring.stage * kStageBytes;
    b += ring.stage * (kStageBytes >> 4);
    unsigned rA[kFragmentsA][4];  // (kFragmentsA) of the warp's 16 rows by 16 of K
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
