#include "generator/families/wgmma_warp_specialized/family.hpp"

#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/base/sector.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/orientation.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

// ---- candidates -----------------------------------------------------------------------------------------------------

/// Block tiles of one height, whose widths go from one to another in steps of 8, and how their warpgroups share them.
struct TileRange {
    int block_m, warpgroup_m;
    int least_n, most_n;
    WarpgroupSchedule schedule;
};
constexpr TileRange kTileRanges[] = {
    {64, 64, 16, 256, WarpgroupSchedule::pingpong},     {64, 64, 8, 256, WarpgroupSchedule::cooperative},
    {128, 128, 64, 208, WarpgroupSchedule::pingpong},   {128, 64, 16, 256, WarpgroupSchedule::cooperative},
    {192, 64, 64, 200, WarpgroupSchedule::cooperative}, {256, 128, 64, 208, WarpgroupSchedule::overlapped},
};
constexpr int kWidthStep = 8;
constexpr int kBlockK = 64;
constexpr int kLongBlockK = 128;
constexpr int kShortTile = 64 * 64;  // whose k-tile of 64 is over before the producer has issued the next one
constexpr std::array<TileShape, 3> kClusters{{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}}};
// Where L2 is the limit even of these.
constexpr std::array<TileShape, 5> kLargeClusters{{{2, 2, 1}, {4, 1, 1}, {1, 4, 1}, {2, 4, 1}, {4, 2, 1}}};
constexpr int kFewestStages = 3;
constexpr int kMostStages = 8;
constexpr int kMostSlices = 8;
constexpr double kShortLaunchFlops = 1.5e11;  // about 200 us: below, a launch that begins early pays

/// As many stages as shared memory has room for beside two slices, or beside one where that leaves too few; then as many slices as
/// are left room, up to a tile's.
void fill_shared_memory(const GemmSignature& problem, Config& config, const Arch& arch) {
    config.stages = config.slices = 1;
    const WgmmaGeometry g = geometry(problem, config);
    const std::int64_t per_stage = g.shared_bytes - g.staging_bytes;
    const auto stages_beside = [&](int slices) {
        const std::int64_t room = arch.shared_bytes_per_block - slices * g.staging_bytes;
        return static_cast<int>(std::clamp<std::int64_t>(room / per_stage, 1, kMostStages));
    };
    config.stages = stages_beside(2) >= kFewestStages ? stages_beside(2) : stages_beside(1);
    if (config.store == OutputStore::registers) return;
    const std::int64_t left = arch.shared_bytes_per_block - config.stages * per_stage;
    const int of_tile = config.warpgroup.m / kWgmmaM * ceil_div(config.warpgroup.n, g.slice_columns);
    config.slices = static_cast<int>(std::min<std::int64_t>(left / g.staging_bytes, std::min(of_tile, kMostSlices)));
}

/// Tiles in flight should share rows of A and columns of B: the group that makes them fetch least.
int best_group(const Config& c, int clusters) {
    const auto fetched = [&](int group) {
        return group * c.block.m * c.cluster.m + ceil_div(clusters, group) * c.block.n * c.cluster.n;
    };
    int best = 1;
    for (const int group : {2, 4, 8, 16})
        if (fetched(group) < fetched(best)) best = group;
    return best;
}

/// A tile that the next smaller one would do for, too.
bool reaches_beyond(const TileRange& range, int n, const GemmSpec& spec) {
    return range.block_m - kWgmmaM >= spec.m || n - kWidthStep >= spec.n;
}

/// Of the last wave's time, what blocks may idle before stream-K is a candidate.
constexpr double kIdleShare = 0.04;
constexpr std::int64_t kShortestStreamed = 8;     // k-tiles

// Of warpgroup tiles of 128 rows, whose accumulators leave few registers: wider ones spill.
constexpr int kWidestTransposed = 200;
int widest_streamed(const Config& c) {
    if (c.warpgroup.m == kWgmmaM) return kMaxWgmmaN;
    return c.schedule == WarpgroupSchedule::overlapped ? 176 : 192;
}

/// The config, and where its tiles don't come out even the same with stream-K: all clusters with equal shares; or, of tiles that
/// many clusters share, as many that each has the same part of one.
void add_streamed(std::vector<Config>& list, const GemmSpec& spec, const GpuModel& gpu, Config config) {
    list.push_back(config);
    if (config.warpgroup.n > widest_streamed(config)) return;
    const int blocks = config.cluster.m * config.cluster.n;
    const int clusters = resident_clusters(gpu, blocks);
    config.stream_k = clusters * blocks;
    const StreamK deal = stream_k(spec, config);
    if (deal.k_tiles < kShortestStreamed || deal.streamed == 0) return;
    const double waves = static_cast<double>(deal.tiles) / clusters;
    if (std::ceil(waves) - waves < kIdleShare * std::ceil(waves)) return;
    list.push_back(config);
    const int shares = deal.tiles < clusters ? static_cast<int>(clusters / deal.tiles) : 1;
    if (shares == 1) return;
    config.stream_k = static_cast<int>(deal.tiles) * shares * blocks;
    if (config.stream_k != clusters * blocks) list.push_back(config);
}

// ---- cost -----------------------------------------------------------------------------------------------------------

// Fitted to 1,144 timings of 13 problems on an H200 (docs/experiments.md): cycles are of the SM clock.
constexpr double kClockShare = 0.916;            // of the GPU's, that tensor cores leave at work
constexpr double kSharedBytesPerCycle = 128;     // what a wgmma reads of its operands
constexpr double kL2BytesPerCycle = 64;          // per SM, of tiles that neighbours fetch as well
constexpr double kSplitLines = 1.75;             // more of them, where the pitch is no multiple of a line of 128 bytes
constexpr double kProducerCycles = 377;          // from one k-tile's copies to the next one's
constexpr double kExposedEpilogueCycles = 1088;  // per tile, unless another warpgroup multiplies meanwhile
constexpr double kEpilogueCycles = 1540;         // per tile of 128x256, in proportion for others,
constexpr double kPingpongCycles = 605;          // where another warpgroup multiplies meanwhile
constexpr double kUsualTile = 128 * 256;
constexpr double kPrologueCycles = 3160;   // up to the first wgmma, and after the last
constexpr double kDeepPipeline = 5680;     // cycles of k-tiles in flight that hide the latency of a load,
constexpr double kShallowPipeline = 0.12;  // and what a shallower one costs
constexpr double kDramShare = 0.7;
constexpr double kLaunchUs = 0.58;
constexpr double kDependentLaunchUs = 0.33;  // hopper's griddepcontrol, 132 blocks of 200 KB
constexpr double kClusterUs = 0.19;
constexpr double kPartialBytesPerCycle = 40;  // that a block writes or reads of sums that meet in the workspace
constexpr double kMeetingCycles = 1500;       // until they are there
constexpr double kStoreBytesPerCycle = 29.7;
constexpr double kSharedSector = 2.4;  // what D takes longer where tiles share sectors: L2 has to read them first
constexpr double kPowerBoundUs = 200;  // of a launch: from here on energy is time
constexpr double kEnergyPerEdge = 11;  // share of the energy per (1 / block.m + 1 / block.n)
constexpr double kEnergyWithoutMulticast = 0.015;
constexpr double kUsualEnergy = 1.1;
constexpr double kEnergyExponent = 0.5;

/// Cycles in which the tensor cores multiply a k-tile, N below 64 being bound by what they read of shared memory.
double multiply_cycles(const Config& c) {
    const double per_wgmma = std::max(c.warpgroup.n / 2.0, (2048 + 32.0 * c.warpgroup.n) / kSharedBytesPerCycle);
    return static_cast<double>(c.block.m) / kWgmmaM * c.block.n / c.warpgroup.n * c.block.k / kWgmmaK * per_wgmma;
}

double epilogue_cycles(const Config& c) {
    const double tiles = c.block.m * c.block.n / kUsualTile;
    return c.schedule == WarpgroupSchedule::pingpong ? kPingpongCycles * tiles
                                                     : kExposedEpilogueCycles + kEpilogueCycles * tiles;
}

struct TileCycles {
    double multiply;
    double fetch;
    double k_tile;  ///< the slowest of these, and of what issues the copies
};

/// Of L2, of one block's share of an operand's k-tile.
double fetched_bytes(const PanelledTile& tile, std::int64_t pitch) {
    constexpr std::int64_t kLineElements = 64;
    return static_cast<double>(tile.bytes) / tile.shares * (pitch % kLineElements == 0 ? 1 : kSplitLines);
}

TileCycles tile_cycles(const GemmSpec& spec, const Config& c, const WgmmaGeometry& g) {
    TileCycles cycles{};
    cycles.multiply = multiply_cycles(c);
    cycles.fetch = (fetched_bytes(g.a, spec.lda) + fetched_bytes(g.b, spec.ldb)) / kL2BytesPerCycle;
    cycles.k_tile = std::max({cycles.multiply, cycles.fetch, kProducerCycles});
    const double in_flight = cycles.k_tile * c.stages;
    if (in_flight < kDeepPipeline) cycles.k_tile *= 1 + kShallowPipeline * (kDeepPipeline / in_flight - 1);
    return cycles;
}

/// How much longer D takes to store than whole sectors. Tiles of D^T are whole ones: 64 elements of a row of D each.
double store_slowdown(const GemmSpec& spec, const Config& c) {
    if (c.swap_ab) return 1;
    return c.block.n * bytes(spec.d) % static_cast<int>(kSectorBytes) == 0 || spec.n <= c.block.n ? 1 : kSharedSector;
}

/// Of what the launch would take if power were no limit, on top.
double energy(const Config& c, const WgmmaGeometry& g) {
    const bool larger_is_shared = c.block.m >= c.block.n ? g.a.shares > 1 : g.b.shares > 1;
    return 1 + kEnergyPerEdge * (1.0 / c.block.m + 1.0 / c.block.n) + (larger_is_shared ? 0 : kEnergyWithoutMulticast);
}

void add_variants(std::vector<Config>& list, const GemmSpec& spec, const GemmSignature& problem, const GpuModel& gpu,
                  Config config) {
    const TileIndex tiles = tiles_of(config.block, spec.m, spec.n);
    const auto add = [&](const TileShape& cluster) {
        if (tiles.m < cluster.m || tiles.n < cluster.n) return;
        config.cluster = cluster;
        config.group = best_group(config, resident_clusters(gpu, cluster.m * cluster.n));
        fill_shared_memory(problem, config, *gpu.arch);
        if (config.stages >= kFewestStages || (config.stages == 2 && config.block.k == kLongBlockK))
            add_streamed(list, spec, gpu, config);
    };
    for (const TileShape& cluster : kClusters) add(cluster);
    config.cluster = {2, 1, 1};
    const TileCycles in_pairs = tile_cycles(spec, config, geometry(problem, config));
    if (in_pairs.fetch > in_pairs.multiply)
        for (const TileShape& cluster : kLargeClusters) add(cluster);
}

/// All candidates of the problem as wgmmas see it that have what `config` fixes.
void add_tiles(std::vector<Config>& list, const GemmSpec& asked, const GpuModel& gpu, Config config) {
    const GemmSpec multiplied = as_multiplied(asked, config);
    const GemmSignature problem = as_multiplied(signature(asked), config);
    for (const TileRange& range : kTileRanges)
        for (int n = range.least_n; n <= range.most_n; n += kWidthStep) {
            if (reaches_beyond(range, n, multiplied) && (range.block_m > kWgmmaM || n > range.least_n)) continue;
            if (config.swap_ab && range.warpgroup_m > kWgmmaM && n > kWidestTransposed) continue;
            config.schedule = range.schedule;
            config.block = {range.block_m, n, range.block_m * n <= kShortTile ? kLongBlockK : kBlockK};
            config.warpgroup = {range.warpgroup_m, n, config.block.k};
            add_variants(list, multiplied, problem, gpu, config);
        }
}

/// Cycles of a cluster with stream-K.
double streamed_cycles(const Config& c, const StreamK& deal, double k_tile, double per_tile) {
    const double share = static_cast<double>(deal.streamed) / static_cast<double>(deal.clusters);  // of a tile
    const double partial_bytes = static_cast<double>(c.block.m) * c.block.n * 4;
    const double meetings = kMeetingCycles + static_cast<double>(1 + deal.most_partial_sums()) * partial_bytes /
                                                 kPartialBytesPerCycle;
    const double pieces = std::ceil(share) * epilogue_cycles(c);
    return share * static_cast<double>(deal.k_tiles) * k_tile + pieces + meetings +
           static_cast<double>(deal.whole_tiles_per_cluster()) * per_tile;
}

}  // namespace

std::vector<Config> WgmmaWarpSpecialized::candidates(const GemmSpec& spec, const GpuModel& gpu) {
    std::vector<Config> list;
    Config config;
    config.dependent_launch = flops(spec) < kShortLaunchFlops;
    if (spec.align_d < 16 || spec.n * bytes(spec.d) % 16 != 0) config.store = OutputStore::registers;
    add_tiles(list, spec, gpu, config);
    config.swap_ab = true;
    if (bytes(spec.d) == 2 && !spec.c && config.store == OutputStore::tma)
        add_tiles(list, spec, gpu, config);
    return list;
}

CostEstimate WgmmaWarpSpecialized::cost(const GemmSpec& row_major, const Config& c, const GpuModel& gpu) {
    const GemmSpec spec = as_multiplied(row_major, c);
    const WgmmaGeometry g = geometry(as_multiplied(signature(row_major), c), c);
    CostEstimate cost;
    if (g.shared_bytes > gpu.arch->shared_bytes_per_block || g.consumers == 0) return cost;
    cost.blocks_per_sm = 1;
    const TileCycles cycles = tile_cycles(spec, c, g);
    const int blocks = bounded_product(c.cluster.m, c.cluster.n);
    const double clusters = resident_clusters(gpu, blocks);
    const double tiles = std::ceil(static_cast<double>(spec.m) / c.block.m / c.cluster.m) *
                         std::ceil(static_cast<double>(spec.n) / c.block.n / c.cluster.n);
    const double k_tiles = std::max(1.0, std::ceil(static_cast<double>(spec.k) / c.block.k));
    const double slowdown = store_slowdown(row_major, c);
    const double stored = static_cast<double>(c.block.m) * c.block.n * bytes(spec.d) / kStoreBytesPerCycle * slowdown;
    const double per_tile = std::max(k_tiles * cycles.k_tile + epilogue_cycles(c), stored);
    const double us_per_cycle = 1 / (kClockShare * gpu.clock_mhz);
    cost.waves = tiles / clusters;
    cost.math_us = std::ceil(cost.waves) * per_tile * us_per_cycle;
    if (c.stream_k != 0) {
        const StreamK deal = stream_k(spec, c);
        cost.waves = tiles / static_cast<double>(deal.clusters);
        if (deal.streamed != 0)
            cost.math_us = streamed_cycles(c, deal, cycles.k_tile, per_tile) * us_per_cycle;
        else
            cost.math_us = std::ceil(cost.waves) * per_tile * us_per_cycle;
    }
    cost.tail_us = std::max(0.0, cost.math_us - cost.waves * per_tile * us_per_cycle);
    cost.math_unit_us = cost.waves * k_tiles * cycles.multiply * us_per_cycle;
    cost.l2_us = cost.waves * k_tiles * cycles.fetch * us_per_cycle;
    const double d_bytes = static_cast<double>(spec.m) * static_cast<double>(spec.n) * bytes(spec.d);
    cost.dram_us = (compulsory_bytes(spec) + (slowdown - 1) * d_bytes) / (kDramShare * gpu.dram_bytes_per_second) * 1e6;
    cost.overhead_us = (c.dependent_launch ? kDependentLaunchUs : kLaunchUs) + (blocks > 1 ? kClusterUs : 0) +
                       (kPrologueCycles + stored) * us_per_cycle;
    cost.total_us = cost.overhead_us + std::max(cost.math_us, cost.dram_us);
    if (cost.total_us > kPowerBoundUs) cost.total_us *= std::pow(energy(c, g) / kUsualEnergy, kEnergyExponent);
    return cost;
}

}  // namespace jitgemm
