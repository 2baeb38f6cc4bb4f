#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_argument.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/layout/mma_atom.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace jitgemm {

/// Bytes of a row of the operands' panels, and the span of their swizzle.
inline constexpr int kPanelBytes = 128;

/// An operand in shared memory: panels of rows of kPanelBytes, as TMA lays them and wgmma reads them.
struct PanelledTile {
    bool k_major = true;
    int element_bytes = 0;
    int panels = 0;
    int bytes = 0;           ///< of a stage
    int panel_elements = 0;  ///< in a row of a panel
    /// Elements of what one block copies at once: along the contiguous extent, and across it.
    std::array<int, 2> box{};
    int shares = 1;  ///< blocks of a cluster that copy it together
};

/// Of a config that may break any rule; what follows from nonsense is 0 or beyond every limit.
struct WgmmaGeometry {
    int consumers = 0;  ///< warpgroups that multiply
    int consumers_n = 0;
    int threads = 0;
    int wgmma_k = 0;  ///< that one wgmma multiplies
    int k_blocks = 0;
    int accumulator_registers = 0;  ///< per thread of a consumer
    int fragment_registers = 0;     ///< where it has A there
    int consumer_registers = 0;     ///< after setmaxnreg
    int producer_registers = 0;     ///< 0: there is no producer
    PanelledTile a;
    PanelledTile b;
    std::int64_t stage_bytes = 0;
    std::int64_t pipeline_bytes = 0;
    int staged_bytes = 0;   ///< of an element: D's, or f32 sums that C is added to row by row
    int slice_columns = 0;  ///< of D, that a warp stages at once
    int rest_columns = 0;   ///< the narrower last slice of a row
    std::int64_t staging_bytes = 0;
    int c_stages = 0;  ///< behind a tile's k-tiles, that C comes in; 0: the epilogue reads it, if there is one
    std::int64_t shared_bytes = 0;  ///< barriers included
};

[[nodiscard]] WgmmaGeometry geometry(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config);

/// Where C goes with D row by row, neighbouring threads at neighbouring elements, slices hold sums.
[[nodiscard]] constexpr bool adds_c_by_row(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config) {
    return config.store == OutputStore::shared && signature.c && !config.broadcast_c;
}

inline constexpr int kMaxConsumers = 3;

/// Fragments of A, 16 rows by the k of a wgmma, that a warp has in registers: each until the wgmma that reads it is
/// done.
inline constexpr int kFragmentsA = 4;

/// Rows of D that a warp has of a wgmma.
inline constexpr int kSliceRows = 16;

/// Rows of a panel of C, where it comes through the ring.
[[nodiscard]] constexpr int c_panel_rows(const WgmmaWarpSpecializedConfig& c) {
    return c.schedule == WarpgroupSchedule::overlapped ? kWgmmaM : c.block.m;
}

/// Panels of C that the ring brings at a time: for a tile, or half of one.
[[nodiscard]] int panels_of_c(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

}  // namespace jitgemm
