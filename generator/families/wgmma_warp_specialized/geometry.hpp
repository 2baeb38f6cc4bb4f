#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_argument.hpp"
#include "generator/base/promoted_sums.hpp"
#include "generator/epilogue/graph.hpp"
#include "generator/families/wgmma_warp_specialized/block_scales.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace jitgemm {

/// Bytes of a row of the operands' panels, and the span of their swizzle: the widest, which a group of K that is in
/// parts may not fill.
inline constexpr int kPanelBytes = 128;

/// Stages begin with a whole pattern of the swizzle, as slices behind them do.
inline constexpr int kSwizzleBytes = 1024;

/// A consumer's registers beside its accumulators.
inline constexpr int kScratchRegisters = 24;

/// An operand in shared memory: panels of rows of kPanelBytes, which TMA writes and wgmma reads.
struct PanelledTile {
    bool k_major = true;
    int element_bytes = 0;
    int panel_bytes = kPanelBytes;
    int panels = 0;
    int bytes = 0;           ///< of a stage
    int panel_elements = 0;  ///< in a row of a panel; where elements have parts, of 32 bits
    /// Elements that one block copies at once: along the contiguous extent, and across it.
    std::array<int, 2> box{};
    int shares = 1;  ///< blocks of a cluster that copy it together
};

/// The config may break any rule: nonsense gives 0 or a number beyond every limit.
struct WgmmaGeometry {
    int consumers = 0;  ///< warpgroups that multiply
    int consumers_n = 0;
    int output_n = 0;  ///< columns of D in a warpgroup tile; of D^T with swap_ab
    int threads = 0;
    int wgmma_k = 0;  ///< the k that one wgmma multiplies
    int k_blocks = 0;
    int accumulator_registers = 0;  ///< per thread of a consumer
    int fragment_registers = 0;     ///< if A comes from registers
    int wave_n = 0;  ///< columns of the warpgroup tile that wgmmas multiply at a time; 0: promoted sums find no room
    int partial_sets = 0;       ///< 2: a wave is added while the next one multiplies
    int partial_registers = 0;  ///< per thread, for sums of waves that begin anew every config.promote of K, and scales
    std::optional<OperandParts> parts;  ///< of the elements of A and B
    int terms = 1;                      ///< wgmmas for each k-block of a wave
    std::vector<WgmmaScale> scales;     ///< of blocks of K, which partial sums are multiplied with
    int consumer_registers = 0;         ///< after setmaxnreg
    int producer_registers = 0;         ///< 0: there is no producer
    PanelledTile a;
    PanelledTile b;
    std::int64_t stage_bytes = 0;
    std::int64_t pipeline_bytes = 0;
    int staged_bytes = 0;   ///< of an element: D's, or an f32 sum to which C is added row by row
    int output_bytes = 0;   ///< of an element of each staged output beside D, in all
    int slice_columns = 0;  ///< columns of D that a warp stages at once
    int rest_columns = 0;   ///< the narrower last slice of a row
    std::int64_t staging_bytes = 0;
    int c_stages = 0;  ///< stages after a tile's k-tiles in which C comes; 0: the epilogue reads C, if there is one
    std::int64_t group_bytes = 0;   ///< where groups of rows end, and which rows are gathered, in shared memory
    std::int64_t shared_bytes = 0;  ///< barriers included
};

/// Whether TMA stores an output beside D, from slices as D's. Else threads store it from their registers.
[[nodiscard]] bool is_staged(const EpilogueOutput& output, const GemmSignature& signature,
                             const WgmmaWarpSpecializedConfig& config);

/// The operand of the signature's text that may come through the ring; null without one.
[[nodiscard]] const EpilogueOperand* ring_operand(const GemmSignature& signature);

[[nodiscard]] WgmmaGeometry geometry(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config);

/// Whether the epilogue adds C row by row. Neighbouring threads then take neighbouring elements, and slices hold sums.
[[nodiscard]] constexpr bool adds_c_by_row(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config) {
    return config.store == OutputStore::shared && signature.c && !config.broadcast_c;
}

/// The instruction that multiplies; none where the types have none with these columns.
[[nodiscard]] std::optional<WgmmaForm> find_form(const GemmSignature& signature, int columns,
                                                 bool a_in_registers = false);

inline constexpr int kMaxConsumers = 3;

/// Fragments of A, 16 rows by the k of a wgmma, in a warp's registers. Each stays until the wgmma that reads it has
/// ended.
inline constexpr int kFragmentsA = 4;

/// Rows of D that a warp holds of a wgmma.
inline constexpr int kSliceRows = 16;

/// The rows of D (of D^T) that a wgmma makes.
[[nodiscard]] inline int rows_of_wgmma(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& c) {
    return kWgmmaM / (has_pairs(signature) && c.swap_ab ? 2 : 1);
}

/// Rows of a panel of C that comes through the ring.
[[nodiscard]] constexpr int c_panel_rows(const WgmmaWarpSpecializedConfig& c) {
    return c.schedule == WarpgroupSchedule::overlapped ? kWgmmaM : c.block.m;
}

/// Panels of C that the ring brings at a time: those of a tile, or of half a tile.
[[nodiscard]] int panels_of_c(const WgmmaWarpSpecializedConfig& config, const WgmmaGeometry& geometry);

}  // namespace jitgemm
