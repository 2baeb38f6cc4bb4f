#pragma once

// C comes through the ring, too. After the k-tiles of a tile come kStagesC stages with its part of C, in panels of
// kPanelRows by kSliceColumns. A panel has the layout of a slice of D.
constexpr int kPanelsPerRow = kSlicesOfRow;  // of a warpgroup tile
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
__device__ constexpr int panel_row(int /*any*/) { return 0; }
__device__ constexpr int panel_column(int panel) {
    return panel / kPanelsPerRow * kWarpgroupN + panel % kPanelsPerRow * kSliceColumns;
}
#endif

#if GEMM_REST_COLUMNS
// The last panel of a row is narrower.
__device__ constexpr bool is_rest_panel(int panel) { return panel % kPanelsPerRow == kPanelsPerRow - 1; }
__device__ constexpr int bytes_of_panel(int panel) {
    return is_rest_panel(panel) ? kPanelBytesC / kSliceColumns * kRestColumns : kPanelBytesC;
}
__device__ __forceinline__ const TensorMap& map_of_panel(const GemmArgs& args, int panel) {
    return is_rest_panel(panel) ? args.map_c_rest : args.map_c;
}
#else
__device__ constexpr int bytes_of_panel(int /*any*/) { return kPanelBytesC; }
__device__ __forceinline__ const TensorMap& map_of_panel(const GemmArgs& args, int /*any*/) { return args.map_c; }
#endif

// Bytes of C in a stage, counted from C's first stage.
__device__ constexpr int bytes_of_c(int stage) {
    int bytes = 0;
    for (int panel = stage * kPanelsPerStage; panel < kPanelsC && panel < (stage + 1) * kPanelsPerStage; ++panel)
        bytes += bytes_of_panel(panel);
    return bytes;
}

// A warp's part of C in the ring, from row `row` on. The ring has moved behind it.
struct PartOfC {
    unsigned ring;
    int first_stage;
    int first_panel;  // of this warpgroup
    int row;  // in the panel
    int row_step;  // 0 where C is one row, else 1

    __device__ __forceinline__ PartOfC(const GemmArgs& args, const SharedMemory& shared, const RingPosition& ring,
                                       int first_panel, int in_panel)
        : ring(shared.ring),
          first_stage(ring.before(kStagesC).stage),
          first_panel(first_panel),
          row_step(args.ldc != 0) {
        row = in_panel * row_step;
    }

#if !GEMM_OVERLAPPED
    // The part `rows` rows below.
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

    // The address of a 16-byte chunk in the panel of a slice.
    __device__ __forceinline__ unsigned address(unsigned panel, int slice, int below, int chunk) const {
        constexpr int kElement = sizeof(ElementC);
        const int at = row + below * row_step;
#if GEMM_REST_COLUMNS
        if (slice == kPanelsPerRow - 1) return chunk_address<kRestColumns * kElement, false>(panel, at, chunk);
#endif
        return chunk_address<kSliceColumns * kElement, kSwizzledSlices>(panel, at, chunk);
    }

    // The elements of C for the j-th atom of a slice: a thread has the same pairs as stage_slice has of D.
    __device__ __forceinline__ Atom atom(unsigned panel, int slice, int j, int lane) const {
#if GEMM_SLICE_F32
        Atom atom;
#pragma unroll
        for (int pair = 0; pair < 2; ++pair)
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                         : "=f"(atom.pair[pair].x), "=f"(atom.pair[pair].y)
                         : "r"(address(panel, slice, lane / 4 + pair * 8, j * 2 + lane % 4 / 2) + lane % 2 * 8)
                         : "memory");
        return atom;
#else
        // Two 8x8 matrices. Lanes 0 to 15 give their rows. Fragments are those of stmatrix.
        unsigned r[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(r[0]), "=r"(r[1])
                     : "r"(address(panel, slice, lane % 16, j))
                     : "memory");
        const auto pair = [&](unsigned bits) {
            return make_float2(c_to_float(static_cast<Bits>(bits)), c_to_float(static_cast<Bits>(bits >> 16)));
        };
        return {pair(r[0]), pair(r[1])};
#endif
    }
};

// Stages of the ring that C takes for the rows that are stored at once: a tile, or half of it. 0 where C is not read.
__device__ __forceinline__ int stages_of_c(const GemmArgs& args) { return c_factor(args) == 0.0f ? 0 : kStagesC; }

// Stages of C after the current k-tiles: none where these don't end their tile.
__device__ __forceinline__ int stages_of_c(const GemmArgs& args, const TileWalk& walk) {
    return walk.ends_tile() ? stages_of_c(args) : 0;
}

// Waits until C's part has arrived in the next stages, and moves `ring` behind them.
__device__ __forceinline__ void wait_for_c(const GemmArgs& args, const SharedMemory& shared, RingPosition& ring) {
#pragma unroll 1
    for (int i = stages_of_c(args); i > 0; --i) {
        wait_for_k_tile(shared, ring);
        ring.advance();
    }
}

#if GEMM_PERSISTENT
// This warp has read C's part, in the stages before `ring`.
__device__ __forceinline__ void release_c(const GemmArgs& args, const SharedMemory& shared, const RingPosition& ring,
                                          int lane) {
    __syncwarp();
    RingPosition of_c = ring.before(stages_of_c(args));
#pragma unroll 1
    for (int i = stages_of_c(args); i > 0; --i) {
        release(shared, of_c.stage, lane);
        of_c.advance();
    }
}
#endif
