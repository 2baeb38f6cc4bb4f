#pragma once
#include "wgmma/copy_operands.cuh"
#if GEMM_C_TMA

// Copies the part of C that begins at (row, column), into the stages after its k-tiles.
__device__ __forceinline__ void copy_c(const GemmArgs& args, const SharedMemory& shared, int row, int column,
                                       RingPosition& ring) {
    const bool is_one_row = args.ldc == 0;
#pragma unroll
    for (int stage = 0; stage < kStagesC; ++stage) {
        announce_k_tile(shared, ring, bytes_of_c(stage));
        const unsigned full = shared.full_barrier(ring.stage);
        unsigned target = shared.stage_a(ring.stage);
#pragma unroll
        for (int i = 0; i < kPanelsPerStage; ++i, target += kPanelBytesC) {
            const int panel = stage * kPanelsPerStage + i;
            if (panel >= kPanelsC) break;
            const int y = is_one_row ? 0 : row + panel_row(panel);
            tma_load(target, map_of_panel(args, panel), column + panel_column(panel), y, full);
        }
        ring.advance();
    }
}
#endif
