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
#if GEMM_PARTS
    // Small products first: part 0 is the largest, and the numbers of both parts add up to `sum`.
#pragma unroll
    for (int sum = kParts - 1; sum >= 0; --sum)
#pragma unroll
        for (int part = sum; part >= 0; --part)  // of A
#pragma unroll
            for (int k_block = 0; k_block < kPromotedBlocks; ++k_block)
                wgmma(partial[0], a + OperandA::offset_of_part(row, first + k_block, part),
                      b + OperandB::offset_of_part(column, first + k_block, sum - part),
                      part != kParts - 1 || k_block != 0);
#else
#pragma unroll
    for (int k_block = 0; k_block < kPromotedBlocks; ++k_block)
        wgmma(partial[0], a + OperandA::offset(row, first + k_block), b + OperandB::offset(column, first + k_block),
              k_block != 0);
#endif
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
#if GEMM_BLOCK_SCALES
            GEMM_SCALE_OF_SUM();
            rC[i][first + j][r] += partial.sums[j][r] * scale;
#else
            rC[i][first + j][r] += partial[j][r];
#endif
            asm volatile("" : "+f"(rC[i][first + j][r])::"memory");
        }
}
