#pragma once
// rC -> sC: fragments side by side in a warp's tile. Which lane holds which element is known to wmma.store alone.
__device__ __forceinline__ void stage_rows(Staged* sC, const Accumulator (&rC)[kTilesN][kRegistersC]) {
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) store_fragment(shared_address(sC + j * kMmaN), rC[j]);
}
