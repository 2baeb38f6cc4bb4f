#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"

#include "generator/base/sector.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

#include <algorithm>
#include <numeric>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

// Fitted, with those of cost.cpp, to 3,870 timings of 72 problems on an H200 (docs/experiments.md).
constexpr double kSharedBytesPerCycle = 128;      // what a wgmma reads of its operands
constexpr double kL2BytesPerCycle = 68;           // that an SM takes from L2 when few do,
constexpr double kL2BytesPerCycleOfAll = 8600;    // and all SMs together
constexpr double kMulticastBytesPerCycle = 74.6;  // that an SM is given, what others fetched for it included
constexpr double kSecondLine = 1.45;              // what a row's second line of L2 costs of its first one,
constexpr double kFifthSector = 0.32;             // and a fifth sector in proportion to four
constexpr double kProducerCycles = 377;           // from one k-tile's copies to the next one's
constexpr double kDeepPipeline = 5760;            // cycles of k-tiles in flight that hide the latency of a load,
constexpr double kShallowPipeline = 0.207;        // and what a shallower one costs

/// N below 64 is bound by what wgmmas read of shared memory.
double multiply_cycles(const Config& c) {
    const double per_wgmma = std::max(c.warpgroup.n / 2.0, (2048 + 32.0 * c.warpgroup.n) / kSharedBytesPerCycle);
    return static_cast<double>(c.block.m) / kWgmmaM * c.block.n / c.warpgroup.n * c.block.k / kWgmmaK * per_wgmma;
}

/// What L2 has to do for one block's share of an operand's k-tile, in bytes of rows that begin with a line. Other rows of 128 bytes
/// lie in two lines, and in five sectors where they begin within one.
double fetched_bytes(const PanelledTile& tile, std::int64_t pitch) {
    constexpr std::int64_t kLine = 128;
    const std::int64_t step = std::gcd(pitch * 2, kLine);  // from where in a line one row begins to where another may
    const double lines = 2 - static_cast<double>(step) / kLine;
    const double sectors = step % static_cast<std::int64_t>(kSectorBytes) == 0 ? 4 : 4.5;
    return static_cast<double>(tile.bytes) / tile.shares *
           (1 + kSecondLine * (lines - 1) + kFifthSector * (sectors / 4 - 1));
}

}  // namespace

double blocks_at_work(const GemmSpec& multiplied, const Config& c, const GpuModel& gpu) {
    const int blocks = bounded_product(c.cluster.m, c.cluster.n);
    if (c.stream_k != 0 && stream_k(multiplied, c).streamed != 0) return c.stream_k;
    const TileIndex tiles =
        tiles_of({c.block.m * c.cluster.m, c.block.n * c.cluster.n, c.block.k}, multiplied.m, multiplied.n);
    return std::min(static_cast<double>(tiles.m) * static_cast<double>(tiles.n),
                    static_cast<double>(resident_clusters(gpu, blocks))) *
           blocks;
}

KTileCycles k_tile_cycles(const GemmSpec& multiplied, const Config& c, const WgmmaGeometry& g, const GpuModel& gpu) {
    KTileCycles cycles{};
    cycles.multiply = multiply_cycles(c);
    const double fetched = fetched_bytes(g.a, multiplied.lda) + fetched_bytes(g.b, multiplied.ldb);
    cycles.fetch =
        std::max({fetched / kL2BytesPerCycle, fetched * blocks_at_work(multiplied, c, gpu) / kL2BytesPerCycleOfAll,
                  static_cast<double>(g.stage_bytes) / kMulticastBytesPerCycle});
    cycles.all = std::max({cycles.multiply, cycles.fetch, kProducerCycles});
    const double in_flight = cycles.all * c.stages;
    if (in_flight < kDeepPipeline) cycles.all *= 1 + kShallowPipeline * (kDeepPipeline / in_flight - 1);
    return cycles;
}

}  // namespace jitgemm
