#pragma once
#include "wgmma/copy_operands.cuh"
#if GEMM_TILE_PANELS

// Copies the panels of the rows from (row, column) on, into the stages after the tile's k-tiles.
__device__ __forceinline__ void copy_panels(const GemmArgs& args, const SharedMemory& shared, int row, int column,
                                            RingPosition& ring) {
    const bool is_one_row = panel_row_step(args) == 0;
#pragma unroll
    for (int stage = 0; stage < kTileStages; ++stage) {
        GEMM_ANNOUNCE_PANELS();
        unsigned target = shared.stage_a(ring.stage);
#pragma unroll
        for (int i = 0; i < kPanelsPerStage; ++i, target += kTilePanelBytes) {
            const int panel = stage * kPanelsPerStage + i;
            if (panel >= kTilePanels) break;
            const int y = is_one_row ? 0 : row + panel_row(panel);
            tma_load(target, map_of_panel(args, panel), column + panel_column(panel), y, full);
        }
        ring.advance();
    }
}
#if GEMM_PREFETCH_PANELS
#include "wgmma/prefetch_panels.cuh"
#endif
#endif
