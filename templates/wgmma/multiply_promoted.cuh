#pragma once

// A warpgroup multiplies its part of a k-tile in waves: 64 rows by kWaveN columns, over kPromotedBlocks k-blocks.
constexpr int kWavesN = kTilesN * 8 / kWaveN;
constexpr int kWaves = kKBlocks / kPromotedBlocks * kTilesM * kWavesN;
using WaveSums = Accumulator[kWaveN / 8][kRegistersC];

// sA, sB -> partial: issues the wgmmas of a wave as one group. `a` and `b` are the matrix descriptors of stage 0. The
// first k-block sets the sums, the others add to them.
__device__ __forceinline__ void multiply_wave(WaveSums& partial, unsigned long long a, unsigned long long b,
                                              const RingPosition& ring, int wave) {
    const int column = wave % kWavesN * kWaveN, row = wave / kWavesN % kTilesM * 64;
    const int first = wave / (kWavesN * kTilesM) * kPromotedBlocks;
    a += ring.stage * (kStageBytes >> 4);
    b += ring.stage * (kStageBytes >> 4);
    wgmma_fence();
    GEMM_ISSUE_WAVE();
    wgmma_commit();
}
#if GEMM_BLOCK_SCALES
#include "wgmma/block_scales.cuh"
#else

using PlaceA = unsigned long long;  // a matrix descriptor

// The descriptor of stage 0. The warpgroup tile begins at `row` of the block tile.
__device__ __forceinline__ PlaceA place_a(const SharedMemory& shared, int row) {
    return OperandA::kDescriptor | (descriptor_address(shared.stage_a(0)) + OperandA::offset(row, 0));
}

using PartialSums = WaveSums;
#endif

// partial -> rC. The wave's wgmmas have ended. The empty asm keeps the compiler from adding later, when the next wgmmas
// use these registers.
__device__ __forceinline__ void add_wave(Accumulator (&rC)[kTilesM][kTilesN][kRegistersC], const PartialSums& partial,
                                         int wave) {
    const int i = wave / kWavesN % kTilesM, first = wave % kWavesN * (kWaveN / 8);
#pragma unroll
    for (int j = 0; j < kWaveN / 8; ++j)
#pragma unroll
        for (int r = 0; r < kRegistersC; ++r) {
            GEMM_ADD_PARTIAL_SUM();
            asm volatile("" : "+f"(rC[i][first + j][r])::"memory");
        }
}
