#pragma once
#include "ptx/tma_prefetch.cuh"

// Fetches a tile's panels into L2, one after the other while the tile's last k-tiles are copied. All blocks reach their
// panels at about one time. Without this, DRAM would have to bring all of them then.
struct PanelPrefetch {
    static constexpr int kWindow = 16;  // k-tiles
    GEMM_PANELS_TO_PREFETCH();
    int from, k_tiles;  // the window
    int panels;  // of this tile; none where it is another block that ends it, or all rows are one
    int fetched = 0;

    __device__ __forceinline__ PanelPrefetch(const GemmArgs& args, const TileWalk& walk)
        : from(max(0, walk.k_tiles - kWindow)), k_tiles(walk.k_tiles - from) {
        panels = stages_of_panels(args, walk) != 0 && panel_row_step(args) != 0 ? kPanels : 0;
    }

    // Those that are due at a k-tile.
    __device__ __forceinline__ void advance(const GemmArgs& args, const Tile& tile, int k_tile) {
#pragma unroll 1
        for (; fetched < panels && fetched * k_tiles <= (k_tile - from) * panels; ++fetched) {
            GEMM_PLACE_OF_PANEL();
            tma_prefetch(map_of_panel(args, panel), tile.column + panel_column(panel), row + panel_row(panel));
        }
    }
};
