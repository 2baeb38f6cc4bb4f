#pragma once
// C comes through the ring as well: behind the k-tiles of a tile stand kStagesC stages with C's part of it, in panels of all rows of
// the block tile by the columns of a slice, which lie as the slices of D do.
constexpr int kPanelsPerRow = (kWarpgroupN + kSliceColumns - 1) / kSliceColumns;  // of a warpgroup tile
constexpr int kPanelsC = kBlockN / kWarpgroupN * kPanelsPerRow;
constexpr int kPanelBytesC = kBlockM * kSliceColumns * static_cast<int>(sizeof(ElementC));
constexpr int kPanelsPerStage = kStageBytes / kPanelBytesC;
constexpr int kStagesC = (kPanelsC + kPanelsPerStage - 1) / kPanelsPerStage;

// Where a panel begins, in columns of the block tile.
__device__ constexpr int panel_column(int panel) {
    return panel / kPanelsPerRow * kWarpgroupN + panel % kPanelsPerRow * kSliceColumns;
}

#if GEMM_REST_COLUMNS
// The last panel of a row is a narrower one.
__device__ constexpr bool is_rest_panel(int panel) { return panel % kPanelsPerRow == kPanelsPerRow - 1; }

#endif
// Of the panels of a stage, counted from C's first one.
__device__ constexpr int bytes_of_c(int stage) {
    int bytes = 0;
    for (int panel = stage * kPanelsPerStage; panel < kPanelsC && panel < (stage + 1) * kPanelsPerStage; ++panel)
#if GEMM_REST_COLUMNS
        bytes += is_rest_panel(panel) ? kPanelBytesC / kSliceColumns * kRestColumns : kPanelBytesC;
#else
        bytes += kPanelBytesC;
#endif
    return bytes;
}

// C's part of a tile as a warp reads it, from one of its rows on.
struct PartOfC {
    unsigned ring;
    int first_stage;
    int first_panel;  // of the warpgroup tile
    int row;  // in the block tile
    int row_step;  // 0 where all rows of C are one
    float beta;

    __device__ __forceinline__ PartOfC(const GemmArgs& args, const SharedMemory& shared, int first_stage,
                                       int first_panel, int in_tile)
        : ring(shared.ring),
          first_stage(first_stage),
          first_panel(first_panel),
          row_step(args.ldc != 0),
          beta(args.beta) {
        row = in_tile * row_step;
    }

    // The same so many rows below.
    __device__ __forceinline__ PartOfC below(int rows) const {
        PartOfC part = *this;
        part.row += rows * row_step;
        return part;
    }

    __device__ __forceinline__ unsigned panel(int index) const {
        index += first_panel;
        const int stage = first_stage + index / kPanelsPerStage;
        return ring + (stage < kStages ? stage : stage - kStages) * kStageBytes + index % kPanelsPerStage * kPanelBytesC;
    }
};
