#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"

#include "generator/base/round_up.hpp"
#include "generator/base/sector.hpp"
#include "generator/families/shared/norm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr double kSharedBytesPerCycle = 128;  // what a wgmma reads of its operands: all that shared memory gives
// Fitted, with those of cost.cpp, to 27,263 kernels timed on an H200 (334 problems) and an H100 (264), see
// docs/experiments.md.
constexpr double kL2BytesPerCycle = 155;         // that an SM takes from L2 alone,
constexpr double kL2BytesPerCycleOfAll = 10700;  // and all SMs together;
constexpr double kL2Exponent = 1.45;             // of what both take, between their sum (1) and the longer one
constexpr double kSharesExponent = 0.637;  // so a request counts that n blocks share: 1 / n to this power for each
constexpr double kMulticastBytesPerCycle = 138;  // that an SM is given, what others fetched for it included
constexpr double kFirstBytesPerCycle = 63.2;     // that the SMs of a TPC take of what is not in their half of L2 yet
constexpr double kOutsideRowCycles = 3.52;       // of a row of a box that reaches beyond the problem
constexpr double kSecondLine = 0.483;            // what a row's second line of L2 costs of its first one,
constexpr double kFifthSector = 3.75;            // and a fifth sector of four
constexpr double kOverlapExponent = 7.36;        // of what multiplying and fetching take, as kL2Exponent
constexpr double kPartPanel = 1.05;              // where the last panel of a wgmma's B isn't full
constexpr double kProducerCycles = 251;          // from one k-tile's copies to the next one's
constexpr double kPairSlowdown = 1.03;           // of clusters of two (of larger ones it was fitted to less than 1 %),
constexpr double kPingpongPairSlowdown = 1.06;   // and where in these one warpgroup at a time multiplies
constexpr int kStagesBeingRead = 1;              // of the ring, by wgmmas: no loads are in flight there
constexpr double kDeepPipeline = 2800;           // cycles of k-tiles in flight that hide the latency of a load,
constexpr double kShallowPipeline = 0.176;       // and what a shallower one costs

/// N below 64 is bound by what wgmmas read of shared memory.
double multiply_cycles(const Config& c) {
    const double per_wgmma = std::max(c.warpgroup.n / 2.0, (2048 + 32.0 * c.warpgroup.n) / kSharedBytesPerCycle);
    return static_cast<double>(c.block.m) / kWgmmaM * c.block.n / c.warpgroup.n * c.block.k / kWgmmaK * per_wgmma;
}

/// What L2 has to do for one block's share of an operand's k-tile, in bytes of rows that begin with a line. Other rows of 128 bytes
/// lie in two lines, and in five sectors where they begin within one.
/// Blocks that share it save less than the requests they don't make, as if L2 served those of neighbours for a line together anyway.
double fetched_bytes(const PanelledTile& tile, std::int64_t pitch) {
    constexpr std::int64_t kLine = 128;
    const std::int64_t step = std::gcd(pitch * 2, kLine);  // from where in a line one row begins to where another may
    const double lines = 2 - static_cast<double>(step) / kLine;
    const double sectors = step % static_cast<std::int64_t>(kSectorBytes) == 0 ? 4 : 4.5;
    return static_cast<double>(tile.bytes) / std::pow(tile.shares, kSharesExponent) *
           (1 + kSecondLine * (lines - 1) + kFifthSector * (sectors / 4 - 1));
}

/// The blocks that fetch each byte of an operand, of which there are so many along the other one's extent.
double readers(std::int64_t extent, int block, int shares) {
    return static_cast<double>(
        std::max<std::int64_t>(1, ceil_div(ceil_div<std::int64_t>(extent, block), std::int64_t{shares})));
}

/// Of an operand's fetches, those that find nothing in their half of L2: the first one in each half, where readers lie in either by
/// chance. A byte that one block reads is one of them, of 64 blocks only two are.
double first_share(double readers) { return 2 * (1 - std::exp2(-readers)) / readers; }

/// Rows of one block's boxes that reach beyond an operand's extent, of the mean k-tile. TMA fills them with zeros, slower than it
/// reads others. Of a cluster that reaches beyond, whole blocks may lie outside.
double outside_rows(const PanelledTile& tile, std::int64_t extent, int block, int cluster, int block_k) {
    const std::int64_t tiles = ceil_div<std::int64_t>(extent, block);
    if (tiles == 0 || tile.panels == 0) return 0;
    const std::int64_t inside = extent - (tiles - 1) * block;  // of the last tile
    const std::int64_t rows = tile.k_major ? (block - inside) * tile.panels
                                           : std::max<std::int64_t>(0, tile.panels - inside / tile.box[0]) * block_k;
    const std::int64_t with_outside = round_up<std::int64_t>(tiles, std::max(cluster, 1));
    const std::int64_t outside = (with_outside - tiles) * tile.panels * (tile.k_major ? block : block_k);
    return static_cast<double>(rows + outside) / static_cast<double>(with_outside) / tile.shares;
}

/// Bytes of an operand's k-tile that one block fetches, and that are not in its half of L2 yet. So many fetch each of them.
double first_bytes(const PanelledTile& tile, double readers) {
    return static_cast<double>(tile.bytes) / tile.shares * first_share(readers);
}

/// Of a block.
double fetch_cycles(const GemmSpec& multiplied, const Config& c, const WgmmaGeometry& g, double at_work,
                    const GpuModel& gpu) {
    const double fetched = fetched_bytes(g.a, multiplied.lda) + fetched_bytes(g.b, multiplied.ldb);
    const double first = first_bytes(g.a, readers(multiplied.n, c.block.n, g.a.shares)) +
                         first_bytes(g.b, readers(multiplied.m, c.block.m, g.b.shares));
    const int of_tpc = at_work > gpu.sm_count / 2.0 ? 2 : 1;  // blocks
    const double to_sm =
        std::max(fetched / kL2BytesPerCycle, static_cast<double>(g.stage_bytes) / kMulticastBytesPerCycle);
    const double from_l2 = norm({to_sm, fetched * at_work / kL2BytesPerCycleOfAll}, kL2Exponent);
    return norm({from_l2, first * of_tpc / kFirstBytesPerCycle}, kOverlapExponent) +
           kOutsideRowCycles * (outside_rows(g.a, multiplied.m, c.block.m, c.cluster.m, c.block.k) +
                                outside_rows(g.b, multiplied.n, c.block.n, c.cluster.n, c.block.k));
}

}  // namespace

KTileCycles k_tile_cycles(const GemmSpec& multiplied, const Config& c, const WgmmaGeometry& g, const StreamK& deal,
                          const GpuModel& gpu, double dram_cycles) {
    KTileCycles cycles{};
    cycles.multiply = multiply_cycles(c);
    const std::int64_t cluster_blocks = std::int64_t{c.cluster.m} * c.cluster.n;
    const auto at_work = static_cast<double>(deal.clusters_at_work() * cluster_blocks);
    cycles.fetch = fetch_cycles(multiplied, c, g, at_work, gpu);
    const double both = norm({cycles.multiply, cycles.fetch}, kOverlapExponent);
    cycles.all = std::max(both, kProducerCycles);
    const double in_flight = std::max(cycles.all, dram_cycles) * std::max(1, c.stages - kStagesBeingRead);
    if (in_flight < kDeepPipeline) cycles.all *= 1 + kShallowPipeline * (kDeepPipeline / in_flight - 1);
    if (!g.b.k_major && c.warpgroup.n % g.b.box[0] != 0) cycles.all *= kPartPanel;
    if (cluster_blocks == 2)
        cycles.all *= c.schedule == WarpgroupSchedule::pingpong ? kPingpongPairSlowdown : kPairSlowdown;
    return cycles;
}

}  // namespace jitgemm
