#pragma once

// rC -> sC: a row of the warp tile's fragments. Only wmma.store knows which lane holds which element.
__device__ __forceinline__ void stage_rows(Staged* sC, const Accumulator (&rC)[kTilesN][kRegistersC]) {
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) store_fragment(shared_address(sC + j * kMmaN), rC[j]);
}
