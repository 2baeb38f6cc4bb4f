#pragma once
#if GEMM_OVERLAPPED
// C comes through the ring as well: behind the k-tiles of a tile stand kStagesC stages with C's part of the halves that are stored
// first, then as many for the others. They hold panels of the 64 rows of a consumer's half by the columns of a slice, which lie as
// the slices of D do.
constexpr int kPanelRows = 64;
constexpr int kPanelsPerRow = (kWarpgroupN + kSliceColumns - 1) / kSliceColumns;  // of a warpgroup tile
constexpr int kPanelsC = kConsumers * kPanelsPerRow;
#else
// C comes through the ring as well: behind the k-tiles of a tile stand kStagesC stages with C's part of it, in panels of all rows of
// the block tile by the columns of a slice, which lie as the slices of D do.
constexpr int kPanelRows = kBlockM;
constexpr int kPanelsPerRow = (kWarpgroupN + kSliceColumns - 1) / kSliceColumns;  // of a warpgroup tile
constexpr int kPanelsC = kBlockN / kWarpgroupN * kPanelsPerRow;
#endif
constexpr int kPanelBytesC = kPanelRows * kSliceColumns * static_cast<int>(sizeof(ElementC));
constexpr int kPanelsPerStage = kStageBytes / kPanelBytesC;
constexpr int kStagesC = (kPanelsC + kPanelsPerStage - 1) / kPanelsPerStage;

// Where a panel begins in the block tile.
#if GEMM_OVERLAPPED
__device__ constexpr int panel_row(int panel) { return panel / kPanelsPerRow / kConsumersN * kWarpgroupM; }
__device__ constexpr int panel_column(int panel) {
    return panel / kPanelsPerRow % kConsumersN * kWarpgroupN + panel % kPanelsPerRow * kSliceColumns;
}
#else
__device__ constexpr int panel_column(int panel) {
    return panel / kPanelsPerRow * kWarpgroupN + panel % kPanelsPerRow * kSliceColumns;
}
#endif

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

// A warp's part of C in the ring, which is past it, from one of its rows on.
struct PartOfC {
    unsigned ring;
    int first_stage;
    int first_panel;  // of its warpgroup
    int row;  // in the panel
    int row_step;  // 0 where all rows of C are one

    __device__ __forceinline__ PartOfC(const GemmArgs& args, const SharedMemory& shared, const RingPosition& ring,
                                       int first_panel, int in_panel)
        : ring(shared.ring),
          first_stage(ring.before(kStagesC).stage),
          first_panel(first_panel),
          row_step(args.ldc != 0) {
        row = in_panel * row_step;
    }

#if !GEMM_OVERLAPPED
    // The same so many rows below.
    __device__ __forceinline__ PartOfC below(int rows) const {
        PartOfC part = *this;
        part.row += rows * row_step;
        return part;
    }

#endif
    __device__ __forceinline__ unsigned panel(int index) const {
        index += first_panel;
        const int stage = first_stage + index / kPanelsPerStage;
        return ring + (stage < kStages ? stage : stage - kStages) * kStageBytes +
               index % kPanelsPerStage * kPanelBytesC;
    }
};
