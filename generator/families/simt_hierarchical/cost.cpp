#include "generator/base/occupancy.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/split_k.hpp"
#include "generator/families/shared/wave_cost.hpp"
#include "generator/families/simt_hierarchical/family.hpp"
#include "generator/families/simt_hierarchical/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

// ---- candidates -----------------------------------------------------------------------------------------------------

struct Tile {
    int block_m, block_n, warp_m, warp_n, thread_m, thread_n, copy_slices, min_blocks_per_sm;
};

// What an H200 ran fastest for large, middle and small problems (docs/experiments.md).
constexpr Tile kTiles[] = {
    {256, 128, 64, 64, 16, 8, 4, 1},  {256, 128, 64, 64, 16, 8, 8, 1},  {256, 128, 64, 64, 16, 8, 14, 1},
    {256, 128, 64, 64, 16, 8, 15, 1}, {128, 256, 64, 64, 16, 8, 4, 1},  {128, 256, 64, 64, 16, 8, 8, 1},
    {128, 256, 64, 64, 16, 8, 14, 1}, {128, 256, 64, 64, 16, 8, 15, 1}, {128, 128, 32, 64, 8, 8, 15, 2},
    {128, 64, 32, 64, 8, 8, 1, 4},    {64, 128, 32, 64, 8, 8, 1, 4},    {64, 64, 32, 64, 8, 8, 1, 4},
    {64, 128, 32, 32, 8, 4, 8, 2},    {64, 64, 32, 32, 8, 4, 1, 4},     {32, 64, 16, 32, 4, 4, 1, 4},
    {64, 32, 16, 32, 4, 4, 1, 4},     {32, 32, 16, 32, 4, 4, 1, 4},     {16, 64, 16, 32, 4, 4, 1, 4},
    {64, 16, 32, 16, 4, 4, 1, 4},     {8, 128, 8, 64, 4, 4, 1, 4},      {128, 8, 64, 8, 4, 4, 1, 4},
};
constexpr int kFullTile = 128;  // sums of a thread
constexpr int kKLanes[] = {4, 8};
constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr int kFewBlocks = 264;         // below about a wave, splitting K may pay
constexpr int kShortestSplit = 128;     // of K
constexpr int kShortestCut = 1024;      // of K
constexpr std::int64_t kFewestCut = 3;  // tiles are cut from a third of a wave on
constexpr std::int64_t kMostCutWaves = 40;

/// Single elements of D are stored side by side where they are much of the work: measured to pay up to a K of about 100. No K as
/// short is shared among blocks, whose partial sums need none of it.
EpilogueStore store_for(const GemmSpec& spec) {
    constexpr std::int64_t kShortK = 128;
    static_assert(kShortK / 2 < kShortestSplit && kShortK < kShortestCut);
    return spec.align_d < 2 * bytes(spec.d) && spec.k <= kShortK ? EpilogueStore::shared : EpilogueStore::registers;
}

Config config_of(const Tile& tile, const GemmSpec& spec) {
    Config config;
    config.block = {tile.block_m, tile.block_n, 16};
    config.warp = {tile.warp_m, tile.warp_n, 16};
    config.thread = {tile.thread_m, tile.thread_n, 1};
    config.copy_slices = tile.copy_slices;
    config.min_blocks_per_sm = tile.min_blocks_per_sm;
    config.store = store_for(spec);
    if (spec.a != DataType::f32) {
        config.copy = CopyPath::registers;
        config.stages = 2;
    }
    return config;
}

bool is_full_tile(const Config& config) { return std::int64_t{config.thread.m} * config.thread.n >= kFullTile; }

bool splitting_may_pay(const GemmSpec& spec, const Config& config, int splits) {
    if (splits == 1) return true;
    const std::int64_t blocks = block_count({config.block.m, config.block.n, 1}, spec);
    return blocks * (splits - 1) < std::int64_t{4} * kFewBlocks && blocks < kFewBlocks &&
           spec.k / splits >= kShortestSplit;
}

/// Orders of the sums differ in the registers ptxas gives them, which shows where a thread has many.
std::span<const UpdateOrder> orders_of(const Config& config) {
    static constexpr UpdateOrder kOrders[] = {UpdateOrder::left, UpdateOrder::right, UpdateOrder::even};
    return std::span(kOrders).first(is_full_tile(config) ? std::size(kOrders) : 1);
}

bool has_no_edges(const GemmSpec& spec, const TileShape& block) {
    return spec.m % block.m == 0 && spec.n % block.n == 0 && spec.k % block.k == 0;
}

/// Tiles are cut where they are few waves of long ones, so that the time saved covers the second entry.
bool cutting_may_pay(const GemmSpec& spec, const Config& config) {
    if (!is_full_tile(config) || spec.d != DataType::f32 || spec.k < kShortestCut) return false;
    const std::int64_t tiles = block_count({config.block.m, config.block.n, 1}, spec);
    return kFewestCut * tiles > config.blocks_per_wave && tiles < kMostCutWaves * config.blocks_per_wave &&
           remainder_tiles(spec, config.block, config.blocks_per_wave) > 0;
}

/// Every way in which blocks may share the K of tiles.
void add_shares_of_k(std::vector<SimtHierarchicalConfig>& candidates, const GemmSpec& spec, const GpuModel& gpu,
                     Config config) {
    for (const int splits : kSplits) {
        config.split_k = splits;
        if (splitting_may_pay(spec, config, splits)) candidates.push_back({config});
    }
    config.split_k = 1;
    config.blocks_per_wave = gpu.sm_count * config.min_blocks_per_sm;
    if (cutting_may_pay(spec, config)) candidates.push_back({config});
}

void add_variants(std::vector<SimtHierarchicalConfig>& candidates, const GemmSpec& spec, const GpuModel& gpu,
                  const Tile& tile) {
    Config config = config_of(tile, spec);
    config.predicated = !has_no_edges(spec, config.block);
    const bool transposes = order_a(spec.layout) == Order::row || order_b(spec.layout) == Order::column;
    for (const int k_lanes : kKLanes) {
        config.k_lanes = k_lanes;
        for (const UpdateOrder order : orders_of(config)) {
            config.order = order;
            add_shares_of_k(candidates, spec, gpu, config);
        }
        if (!transposes) break;
    }
}

// ---- cost -----------------------------------------------------------------------------------------------------------

// Cycles are of the SM clock, with one instruction per scheduler and cycle as the limit.
constexpr double kLaunchUs = 1.0;
constexpr double kReduceUs = 3;               // second entry of a split-K kernel,
constexpr double kAddPartialsUs = 4.5;        // of one that cuts tiles
constexpr double kRestUsPerByte = 0.4e-6;     // of what is cut off tiles: stored, read, added to D
constexpr double kPartialsShare = 0.5;        // of the partial sums' bytes that reach DRAM
constexpr double kSchedulers = 4;             // of an SM
constexpr double kCopyInstructions = 2;       // of a copy: its address, itself
constexpr double kLoopInstructions = 40;      // of a k-tile beyond fmas, loads and copies
constexpr double kNarrowTile = 1.08;          // issue slots an fma takes with fewer than 128 sums per thread,
constexpr double kSmallTile = 1.03;           // and with fewer than 64
constexpr double kLoneWarp = 0.28;            // issue slots lost with one warp per scheduler, a quarter with two ...
constexpr double kPrologueCycles = 2600;      // of a block: first k-tile from DRAM, ramp-up and drain
constexpr double kLoadLatencyCycles = 1300;   // of a k-tile from L2 or DRAM, shared by the stages in flight
constexpr double kStepCycles = 36;            // of one k of a lone warp: its loads from shared memory
constexpr double kStoreBytesPerCycle = 15.5;  // in quads; in pairs, one by one, one by one but side by side:
constexpr double kPairBytesPerCycle = 10;     // the least error of a few tried over 1,030 kernels of 40 problems
constexpr double kElementBytesPerCycle = 6;
constexpr double kNeighbourBytesPerCycle = 12;
constexpr double kL2BytesPerCycle = 53;
constexpr double kDramShare = 0.78;  // of the datasheet's bandwidth

/// Registers of large tiles meet in one bank: in SASS 160 to 220 of 4096 fmas with sums from the right, 260 to 370 otherwise
/// (docs/experiments.md). What else sets variants of one tile apart is up to ptxas: measured winners know it, no model does.
constexpr double kBankConflicts = 1.03;

double order_slowdown(const Config& c) { return is_full_tile(c) && c.order != UpdateOrder::right ? kBankConflicts : 1; }

/// Of the load-store unit, that a transposed element of a warp takes beyond its instruction. Eight k of four rows are fewer
/// addresses than four k of eight; a large tile whose copies ask for bounds gains nothing by that.
double transposed_cycles(const Config& c) { return c.k_lanes == 8 && !(is_full_tile(c) && c.predicated) ? 3.8 : 4.0; }

double store_bytes_per_cycle(const Config& c, const SimtHierarchicalGeometry& g) {
    if (c.store == EpilogueStore::shared) return kNeighbourBytesPerCycle;
    return g.vector_d == kQuad ? kStoreBytesPerCycle : g.vector_d == 2 ? kPairBytesPerCycle : kElementBytesPerCycle;
}

/// Issue slots that one warp takes for one k-tile.
double warp_instructions(const Config& c, const SimtHierarchicalGeometry& g) {
    const double sums = static_cast<double>(c.thread.m) * c.thread.n;
    const double fmas = sums * (is_full_tile(c) ? 1 : 2 * sums >= kFullTile ? kNarrowTile : kSmallTile);
    const double loads = (c.thread.m + c.thread.n) / 4.0;
    const double copies = kCopyInstructions * (g.a.copies + g.b.copies);
    const double transposed = (g.a.transposed ? g.a.copies : 0) + (g.b.transposed ? g.b.copies : 0);
    return c.block.k * (fmas + loads) + copies + transposed_cycles(c) * transposed + kLoopInstructions;
}

double k_tile_cycles(const Config& c, const SimtHierarchicalGeometry& g, int resident) {
    const double warps_per_scheduler = std::max(1.0, resident * g.threads / 32.0 / kSchedulers);
    const double issue =
        warps_per_scheduler * warp_instructions(c, g) * (1 + kLoneWarp / (warps_per_scheduler * warps_per_scheduler));
    const double lone = c.block.k * (kStepCycles + static_cast<double>(c.thread.m) * c.thread.n);
    const double fill = 4.0 * (c.block.m + c.block.n) * c.block.k / kL2BytesPerCycle;
    const double loads = (kLoadLatencyCycles + resident * fill) / (c.stages - 1);
    return std::max({issue, lone, resident * fill, loads});
}

/// Remainder tiles share a wave out among all SMs: those without a greater part compute the others, `partials` one after the other
/// (templates/remainder_tiles.cuh). `last_wave_us` is the wave's time with whole tiles.
void cut_last_wave(CostEstimate& cost, const GemmSpec& spec, const Config& c, const GpuModel& gpu,
                   double last_wave_us) {
    const auto cut = static_cast<double>(remainder_tiles(spec, c.block, c.blocks_per_wave));
    const bool fits = c.blocks_per_wave == gpu.sm_count * cost.blocks_per_sm;
    const double saved_us = fits ? last_wave_us / (std::ceil(cut / (c.blocks_per_wave - cut)) + 1) : 0;
    cost.math_us -= saved_us;
    cost.tail_us = std::max(0.0, cost.tail_us - saved_us);
    cost.overhead_us +=
        kAddPartialsUs + kRestUsPerByte * static_cast<double>(remainder_bytes(spec, c.block, c.blocks_per_wave));
}

}  // namespace

std::vector<SimtHierarchicalConfig> SimtHierarchical::candidates(const GemmSpec& spec, const GpuModel& gpu) {
    std::vector<SimtHierarchicalConfig> candidates;
    for (const Tile& tile : kTiles) add_variants(candidates, spec, gpu, tile);
    for (Config& candidate : candidates)
        candidate.dependent_launch = lone_launch_pays(spec, hierarchical_grid(candidate), gpu);
    return candidates;
}

CostEstimate SimtHierarchical::cost(const GemmSpec& spec, const SimtHierarchicalConfig& c, const GpuModel& gpu) {
    const SimtHierarchicalGeometry g = geometry(signature_of_resolved(spec), c);
    CostEstimate cost;
    if (g.threads == 0 || c.stages < 2 || c.split_k < 1) return cost;
    cost.blocks_per_sm = estimated_occupancy(g, *gpu.arch).blocks();
    if (cost.blocks_per_sm == 0) return cost;

    const auto blocks = static_cast<double>(block_count({c.block.m, c.block.n, c.split_k}, spec));
    const double k_tiles = std::ceil(std::ceil(static_cast<double>(spec.k) / c.block.k) / c.split_k);
    const double store_bytes = static_cast<double>(c.block.m) * c.block.n * (c.split_k > 1 ? 4 : bytes(spec.d));
    const auto wave_cycles = [&](int resident) {
        if (resident == 0) return 0.0;
        return k_tiles * k_tile_cycles(c, g, resident) * order_slowdown(c) + kPrologueCycles +
               resident * store_bytes / store_bytes_per_cycle(c, g);
    };
    add_waves(cost, blocks, gpu.sm_count, gpu.clock_mhz, wave_cycles);

    // Each unit alone, its work spread over all SMs.
    const double us_per_cycle = 1 / static_cast<double>(gpu.clock_mhz);
    const double k_tiles_per_sm = blocks * k_tiles / gpu.sm_count;
    const double fmas = static_cast<double>(c.block.m) * c.block.n * c.block.k;
    const double fragment_wavefronts = g.threads / 32.0 * c.block.k * (c.thread.m + c.thread.n) / 4 * 2;
    const double fill_floats = static_cast<double>(c.block.m + c.block.n) * c.block.k;
    cost.math_unit_us = k_tiles_per_sm * 2 * fmas / fma_flops_per_clock(*gpu.arch) * us_per_cycle;
    cost.shared_us = k_tiles_per_sm * (fragment_wavefronts + fill_floats / 32) * us_per_cycle;
    cost.l2_us = k_tiles_per_sm * fill_floats * bytes(spec.a) / kL2BytesPerCycle * us_per_cycle;
    const double partials_bytes =
        c.split_k > 1 ? 2.0 * c.split_k * static_cast<double>(spec.m) * static_cast<double>(spec.n) * 4 : 0;
    cost.dram_us =
        (compulsory_bytes(spec) + kPartialsShare * partials_bytes) / (kDramShare * gpu.dram_bytes_per_second) * 1e6;
    cost.overhead_us = kLaunchUs - (c.dependent_launch ? kEarlyLaunchUs : 0) + (c.split_k > 1 ? kReduceUs : 0);
    if (c.blocks_per_wave > 0) cut_last_wave(cost, spec, c, gpu, wave_cycles(cost.blocks_per_sm) * us_per_cycle);
    cost.total_us = cost.overhead_us + std::max({cost.math_us, cost.l2_us, cost.dram_us});
    return cost;
}

}  // namespace jitgemm
