#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"

#include <cstdint>

/// \file Terms of a kernel's cost that follow from its tile and the problem alone. `row_major` is the problem of a
/// kernel, `multiplied` the problem as wgmmas see it.

namespace jitgemm {

/// Bytes of D for a sum of the product: half an element, where an epilogue makes one of two.
[[nodiscard]] double bytes_per_sum(const GemmSpec& spec);

/// The size of the tile over that of 128x256. Some constants are those of a tile of 128x256.
[[nodiscard]] double usual_tiles(const WgmmaWarpSpecializedConfig& config);

/// Of each tile.
[[nodiscard]] double epilogue_cycles(const WgmmaWarpSpecializedConfig& config, const WgmmaCosts& costs);
/// Of the last tile, or of two that end together. No other warpgroup's multiplying hides it.
[[nodiscard]] double last_epilogue_cycles(const WgmmaWarpSpecializedConfig& config, const WgmmaCosts& costs);

/// The work of a tile's epilogue apart from its stores. A C counts as an operand of a text.
struct EpilogueWork {
    bool in_ring = false;     ///< a matrix comes through the ring of stages
    bool by_element = false;  ///< a C that threads read element by element
    int matrices = 0;         ///< those that threads read, a slice of D at a time
    int vectors = 0;          ///< rows and columns
    double special = 0;       ///< special functions that an element of D takes
    double others = 0;        ///< other instructions that it takes
    double elements = 1;      ///< of D, for each sum: half of one with pairs
};
/// Of a kernel that has a matrix in the ring where it has one that fits there, or of one that has none there.
[[nodiscard]] EpilogueWork epilogue_work(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config,
                                         bool through_ring);
/// Of each tile. Where a ping-pong's epilogue reads or computes, the other warpgroup goes on meanwhile.
[[nodiscard]] double work_cycles(const EpilogueWork& work, const WgmmaWarpSpecializedConfig& config,
                                 const HardwareCosts& hardware, const WgmmaCosts& costs);

/// How much longer D takes to store than whole sectors. Tiles of D^T are whole ones: 64 elements of a row of D each.
[[nodiscard]] double store_slowdown(const GemmSpec& row_major, const WgmmaWarpSpecializedConfig& config,
                                    const WgmmaCosts& costs);
/// To store a tile of D, which takes so much longer than whole sectors.
[[nodiscard]] double store_cycles(const GemmSpec& row_major, const WgmmaWarpSpecializedConfig& config, double slowdown,
                                  const WgmmaCosts& costs);

/// Of a cluster's pieces and tiles with stream-K, given the cycles of a k-tile and of a whole tile.
[[nodiscard]] double streamed_cycles(const WgmmaWarpSpecializedConfig& config, const StreamK& deal, double k_tile,
                                     double per_tile, const WgmmaCosts& costs);
/// Cycles after these pieces until the last sums are together. The cluster takes `partial_sums` from others.
[[nodiscard]] double meeting_cycles(const WgmmaWarpSpecializedConfig& config, std::int64_t partial_sums,
                                    const WgmmaCosts& costs);

/// Of a launch in clusters of this many blocks, beyond one without clusters.
[[nodiscard]] double cluster_us(int blocks, const WgmmaCosts& costs);
/// Of the launch in clusters of this many blocks.
[[nodiscard]] double launch_us(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config, int blocks,
                               const WgmmaCosts& costs);
/// Of packing what TMA can't address, and of transposing.
[[nodiscard]] double pack_us(const GemmSpec& row_major, const WgmmaWarpSpecializedConfig& config, const GpuModel& gpu,
                             const WgmmaCosts& costs);
/// The problem as TMA sees it.
[[nodiscard]] GemmSpec as_packed(GemmSpec row_major);

[[nodiscard]] double dram_bytes_per_us(const GpuModel& gpu, const WgmmaCosts& costs);

/// A launch at the power limit takes this many times as long. A multicast may serve the longer side of the tile.
[[nodiscard]] double energy_slowdown(const WgmmaWarpSpecializedConfig& config, bool larger_is_shared,
                                     const WgmmaCosts& costs);

}  // namespace jitgemm
