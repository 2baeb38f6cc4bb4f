#pragma once

// A tile operand comes through the ring, too: a matrix that lies as D does. After the k-tiles of a tile come
// kTileStages stages with its part of the operand, in panels of kPanelRows by kSliceColumns. A panel has the layout of
// a slice of D.
#include "panel_operand.inl"

constexpr int kPanelsPerRow = kSlicesOfRow;  // of a warpgroup tile
constexpr int kTilePanelBytes = kPanelRows * kSliceColumns * static_cast<int>(sizeof(Staged));
constexpr int kPanelsPerStage = kStageBytes / kTilePanelBytes;
constexpr int kTileStages = (kTilePanels + kPanelsPerStage - 1) / kPanelsPerStage;

// Where a panel begins in the block tile.
GEMM_PLACE_OF_PANELS();

#if GEMM_REST_COLUMNS
// The last panel of a row is narrower.
__device__ constexpr bool is_rest_panel(int panel) { return panel % kPanelsPerRow == kPanelsPerRow - 1; }
__device__ constexpr int bytes_of_panel(int panel) {
    return is_rest_panel(panel) ? kTilePanelBytes / kSliceColumns * kRestColumns : kTilePanelBytes;
}
__device__ __forceinline__ const TensorMap& map_of_panel(const GemmArgs& args, int panel) {
    return is_rest_panel(panel) ? map_of_rest_panels(args) : map_of_panels(args);
}
#else
__device__ constexpr int bytes_of_panel(int /*any*/) { return kTilePanelBytes; }
__device__ __forceinline__ const TensorMap& map_of_panel(const GemmArgs& args, int /*any*/) {
    return map_of_panels(args);
}
#endif

// Bytes of panels in a stage, counted from their first stage.
__device__ constexpr int bytes_of_panels(int stage) {
    int bytes = 0;
    for (int panel = stage * kPanelsPerStage; panel < kTilePanels && panel < (stage + 1) * kPanelsPerStage; ++panel)
        bytes += bytes_of_panel(panel);
    return bytes;
}

// A warp's part of the operand in the ring, from row `row` on. The ring has moved behind it.
#if !GEMM_SLICE_F32
template <typename Type>
#endif
struct Panels {
    unsigned ring;
    int first_stage;
    int first_panel;  // of this warpgroup
    int row;  // in the panel
    int row_step;  // 0 where the operand is one row, else 1
    unsigned panel;  // of the current slice

    // They begin with panel `panel_of_tile` of the stages before `behind`, in its row `in_panel`.
    __device__ __forceinline__ void begin(const GemmArgs& args, const SharedMemory& shared, const RingPosition& behind,
                                          int panel_of_tile, int in_panel) {
        ring = shared.ring;
        first_stage = behind.before(kTileStages).stage;
        first_panel = panel_of_tile;
        row_step = panel_row_step(args);
        row = in_panel * row_step;
    }

#if !GEMM_OVERLAPPED
    // The part `rows` rows below.
    __device__ __forceinline__ Panels below(int rows) const {
        Panels part = *this;
        part.row += rows * row_step;
        return part;
    }

#endif
    __device__ __forceinline__ void begin_slice(int slice) {
        const int index = slice + first_panel;
        const int stage = first_stage + index / kPanelsPerStage;
        panel = ring + (stage < kStages ? stage : stage - kStages) * kStageBytes +
                index % kPanelsPerStage * kTilePanelBytes;
    }

    // The address of a 16-byte chunk in the panel of a slice.
#if GEMM_REST_COLUMNS
    __device__ __forceinline__ unsigned address(int slice, int below, int chunk) const {
        constexpr int kElement = sizeof(Staged);
        const int at = row + below * row_step;
        if (slice == kPanelsPerRow - 1) return chunk_address<kRestColumns * kElement, false>(panel, at, chunk);
        return chunk_address<kSliceColumns * kElement, kSwizzledSlices>(panel, at, chunk);
    }
#else
    __device__ __forceinline__ unsigned address(int /*slice*/, int below, int chunk) const {
        constexpr int kElement = sizeof(Staged);
        return chunk_address<kSliceColumns * kElement, kSwizzledSlices>(panel, row + below * row_step, chunk);
    }
#endif

    // The elements for the j-th atom of a slice: a thread has the same pairs as stage_slice has of D.
    __device__ __forceinline__ Atom atom(int slice, int j, int lane) const {
#if GEMM_SLICE_F32
        Atom atom;
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                         : "=f"(atom.pair[pair].x), "=f"(atom.pair[pair].y)
                         : "r"(address(slice, lane / 4 + pair * 8, j * 2 + lane % 4 / 2) + lane % 2 * 8)
                         : "memory");
        return atom;
#else
        // Two 8x8 matrices. Lanes 0 to 15 give their rows. Fragments are those of stmatrix.
        unsigned r[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(r[0]), "=r"(r[1])
                     : "r"(address(slice, lane % 16, j))
                     : "memory");
        const auto pair = [&](unsigned bits) {
            return make_float2(Type::to_float(static_cast<Bits>(bits)), Type::to_float(static_cast<Bits>(bits >> 16)));
        };
        return {pair(r[0]), pair(r[1])};
#endif
    }
};

// Stages of the ring that panels take for the rows that are stored at once: a tile, or half of it. 0 where the operand
// is not read.
__device__ __forceinline__ int stages_of_panels(const GemmArgs& args) { return reads_panels(args) ? kTileStages : 0; }

// Stages of panels after the current k-tiles: none where these don't end their tile.
__device__ __forceinline__ int stages_of_panels(const GemmArgs& args, const TileWalk& walk) {
    return walk.ends_tile() ? stages_of_panels(args) : 0;
}

// Waits until the panels have arrived in the next stages, and moves `ring` behind them.
__device__ __forceinline__ void wait_for_panels(const GemmArgs& args, const SharedMemory& shared, RingPosition& ring) {
#pragma unroll 1
    for (int i = stages_of_panels(args); i > 0; --i) {
        wait_for_k_tile(shared, ring);
        ring.advance();
    }
}

#if GEMM_PERSISTENT
// This warp has read its panels, in the stages before `ring`.
__device__ __forceinline__ void release_panels(const GemmArgs& args, const SharedMemory& shared,
                                               const RingPosition& ring, int lane) {
    __syncwarp();
    RingPosition of_panels = ring.before(stages_of_panels(args));
#pragma unroll 1
    for (int i = stages_of_panels(args); i > 0; --i) {
        release(shared, of_panels.stage, lane);
        of_panels.advance();
    }
}
#endif
