#pragma once

#include "generator/base/arch.hpp"
#include "generator/families/family.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The bytes of A and B that the blocks of the first wave read, each counted once. L2 must hold them if all blocks are
/// to share them.
struct WaveFootprint {
    std::int64_t a_bytes = 0;
    std::int64_t b_bytes = 0;
    [[nodiscard]] std::int64_t total() const { return a_bytes + b_bytes; }
    friend bool operator==(const WaveFootprint&, const WaveFootprint&) = default;
};

/// One order in which blocks take the tiles of D.
struct TileOrder {
    std::vector<TileIndex> first_wave;   ///< tiles of blocks 0, 1 …; empty if they are not known
    std::vector<std::int64_t> block_of;  ///< of each drawn tile, row by row
    WaveFootprint footprint;             ///< of the first wave
};

/// The kernel's order, and row-major order to compare it with.
struct KernelRasterization {
    std::string order;  ///< "groups of 8 tiles along M"
    TileIndex tiles;    ///< of D
    int splits = 1;
    std::int64_t blocks = 0;      ///< tiles · splits
    std::int64_t first_wave = 0;  ///< of them, resident at once on all SMs
    int sm_count = 0;
    int blocks_per_sm = 0;
    std::int64_t l2_bytes = 0;
    TileIndex drawn;  ///< number of tiles that are drawn, from the upper left corner
    TileOrder own;
    TileOrder row_major;
};

/// The text for a kernel whose order has no known first wave.
inline constexpr std::string_view kFirstWaveUnknown =
    "The tiles of the first wave are not known: a block takes several tiles, or some tiles lie far from the corner";

/// The footprint of blocks [0, count) of all splits. The edges of the matrices cut the last tiles.
[[nodiscard]] WaveFootprint wave_footprint(const GemmSpec& spec, const TileSchedule& schedule, std::int64_t count);

/// If the anatomy has no schedule, Family::owner gives each block's tile. Tiles and footprint are left out in two
/// cases: some blocks of the first wave have no tile among the 2^14 at the corner, or blocks take several tiles.
[[nodiscard]] KernelRasterization kernel_rasterization(const Problem& problem, const KernelConfig& config,
                                                       const KernelAnatomy& anatomy, const GpuModel& gpu,
                                                       int blocks_per_sm);

/// Both orders side by side, the first wave marked and its path drawn.
[[nodiscard]] std::string rasterization_html(const KernelRasterization& rasterization);

/// "12.6 MB"
[[nodiscard]] std::string megabytes(std::int64_t bytes);

}  // namespace jitgemm
