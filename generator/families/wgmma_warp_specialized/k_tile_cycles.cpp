#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"

#include "generator/base/sector.hpp"
#include "generator/families/shared/norm.hpp"

#include <algorithm>
#include <numeric>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

// Fitted, with those of cost.cpp, to 10,949 timings of 180 problems on an H200 (docs/experiments.md).
constexpr double kSharedBytesPerCycle = 128;      // what a wgmma reads of its operands
constexpr double kL2BytesPerCycle = 86;           // that an SM takes from L2 when few do,
constexpr double kL2BytesPerCycleOfAll = 8942;    // and all SMs together
constexpr double kMulticastBytesPerCycle = 74.5;  // that an SM is given, what others fetched for it included
constexpr double kSecondLine = 1.38;              // what a row's second line of L2 costs of its first one,
constexpr double kFifthSector = 0.32;             // and a fifth sector in proportion to four
constexpr double kOverlapExponent =
    7;                                // of what multiplying and fetching take, between their sum (1) and the longer one
constexpr double kPartPanel = 1.037;  // where the last panel of a wgmma's B isn't full
constexpr double kProducerCycles = 249;     // from one k-tile's copies to the next one's
constexpr double kDeepPipeline = 4809;      // cycles of k-tiles in flight that hide the latency of a load,
constexpr double kShallowPipeline = 0.216;  // and what a shallower one costs

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

KTileCycles k_tile_cycles(const GemmSpec& multiplied, const Config& c, const WgmmaGeometry& g, const StreamK& deal) {
    KTileCycles cycles{};
    cycles.multiply = multiply_cycles(c);
    const double fetched = fetched_bytes(g.a, multiplied.lda) + fetched_bytes(g.b, multiplied.ldb);
    const auto at_work = static_cast<double>(deal.clusters_at_work() * c.cluster.m * c.cluster.n);  // blocks
    cycles.fetch = std::max({fetched / kL2BytesPerCycle, fetched * at_work / kL2BytesPerCycleOfAll,
                             static_cast<double>(g.stage_bytes) / kMulticastBytesPerCycle});
    const double both = norm({cycles.multiply, cycles.fetch}, kOverlapExponent);
    cycles.all = std::max(both, kProducerCycles);
    const double in_flight = cycles.all * c.stages;
    if (in_flight < kDeepPipeline) cycles.all *= 1 + kShallowPipeline * (kDeepPipeline / in_flight - 1);
    if (!g.b.k_major && c.warpgroup.n % g.b.box[0] != 0) cycles.all *= kPartPanel;
    return cycles;
}

}  // namespace jitgemm
