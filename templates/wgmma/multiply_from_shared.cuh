#pragma once

using PlaceA = unsigned long long;  // a matrix descriptor

// The descriptor of stage 0. The warpgroup tile begins at `row` of the block tile.
__device__ __forceinline__ PlaceA place_a(const SharedMemory& shared, int row) {
    return OperandA::kDescriptor | (descriptor_address(shared.stage_a(0)) + OperandA::offset(row, 0));
}

// sA, sB -> rC: issues the wgmmas of a k-tile as one group, for rows 64 * kFirstRows to 64 * kEndRows of the warpgroup
// tile. `a` and `b` are the matrix descriptors of stage 0. A tile's first k-block sets the sums, the others add to
// them.
template <bool kFirst, int kFirstRows = 0, int kEndRows = kTilesM>
__device__ __forceinline__ void multiply(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], PlaceA a,
                                         unsigned long long b, const RingPosition& ring) {
    a += ring.stage * (kStageBytes >> 4);
    b += ring.stage * (kStageBytes >> 4);
    wgmma_fence();
#pragma unroll
    for (int k_block = 0; k_block < kKBlocks; ++k_block)
#pragma unroll
        for (int i = kFirstRows; i < kEndRows; ++i)
            wgmma(rC[i][0], a + OperandA::offset(i * 64, k_block), b + OperandB::offset(0, k_block),
                  !kFirst || k_block != 0);
    wgmma_commit();
}
