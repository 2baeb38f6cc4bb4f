#include "generator/base/occupancy.hpp"
#include "generator/base/roofline.hpp"
#include "generator/base/sector.hpp"
#include "generator/families/shared/compile_cost.hpp"
#include "generator/families/shared/cost_total.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/hardware_costs.hpp"
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

// An H200 ran these tiles fastest for large, middle and small problems, and an H100 ran 128x32 (docs/lab/simt.md).
constexpr Tile kTiles[] = {
    {256, 128, 64, 64, 16, 8, 4, 1},  {256, 128, 64, 64, 16, 8, 8, 1},  {256, 128, 64, 64, 16, 8, 14, 1},
    {256, 128, 64, 64, 16, 8, 15, 1}, {128, 256, 64, 64, 16, 8, 4, 1},  {128, 256, 64, 64, 16, 8, 8, 1},
    {128, 256, 64, 64, 16, 8, 14, 1}, {128, 256, 64, 64, 16, 8, 15, 1}, {128, 128, 32, 64, 8, 8, 15, 2},
    {128, 64, 32, 64, 8, 8, 1, 4},    {64, 128, 32, 64, 8, 8, 1, 4},    {64, 64, 32, 64, 8, 8, 1, 4},
    {64, 128, 32, 32, 8, 4, 8, 2},    {128, 32, 32, 32, 8, 4, 1, 4},    {64, 64, 32, 32, 8, 4, 1, 4},
    {32, 64, 16, 32, 4, 4, 1, 4},     {64, 32, 16, 32, 4, 4, 1, 4},     {32, 32, 16, 32, 4, 4, 1, 4},
    {16, 64, 16, 32, 4, 4, 1, 4},     {64, 16, 32, 16, 4, 4, 1, 4},     {8, 128, 8, 64, 4, 4, 1, 4},
    {128, 8, 64, 8, 4, 4, 1, 4},
};
constexpr int kFullTile = 128;  // sums of a thread
constexpr int kKLanes[] = {4, 8};
constexpr int kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr std::int64_t kFewBlocks = 264;             // below about a wave, splitting K may pay,
constexpr std::int64_t kMostParts = 8 * kFewBlocks;  // parts of tiles; some more may come of rounding up
constexpr int kShortestSplit = 128;                  // of K
constexpr int kShortestCut = 1024;                   // of K
constexpr std::int64_t kFewestCut = 3;               // tiles are cut from a third of a wave on
constexpr std::int64_t kMostCutWaves = 40;

/// Elements and pairs of D are stored side by side where they are much of the work: measured to pay up to a K of about
/// 100. No K as short is shared among blocks, whose partial sums need none of it.
EpilogueStore store_for(const GemmSpec& spec) {
    constexpr std::int64_t kShortK = 128;
    static_assert(kShortK / 2 < kShortestSplit && kShortK < kShortestCut);
    return spec.align_d < kQuad * bytes(spec.d) && spec.k <= kShortK ? EpilogueStore::shared : EpilogueStore::registers;
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
    const std::int64_t blocks = blocks_of_batch({config.block.m, config.block.n, 1}, spec);
    return blocks * (splits - 1) < kMostParts && blocks < kFewBlocks && spec.k / splits >= kShortestSplit;
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
    if (!is_full_tile(config) || spec.d != DataType::f32 || spec.k < kShortestCut || spec.symmetric) return false;
    const std::int64_t tiles = blocks_of_batch({config.block.m, config.block.n, 1}, spec);
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

// Cycles are of an SM. Slots are of a scheduler, which issues one instruction per cycle.

/// Bytes of the sectors that neighbouring elements touch if they begin at any multiple of `alignment`, in the
/// mean.
double bytes_of_sectors(double bytes, int alignment) { return bytes + std::max(0.0, kSectorBytes - alignment); }

/// A block's mean work. It copies and stores its share of rows and columns of the matrices only.
struct HierarchicalWork {
    double k_tiles = 0;
    double slots = 0;       ///< of a warp and k-tile
    double wavefronts = 0;  ///< of the load-store unit, for the copies of a warp and k-tile
    double fill_bytes = 0;  ///< of a k-tile, in sectors
    double store_bytes = 0;
    double store_cycles = 0;
};

double fma_slots(const Config& c, const HierarchicalCosts& costs) {
    if (!is_full_tile(c) || c.order == UpdateOrder::right) return costs["fma_slots"];
    return c.order == UpdateOrder::left ? costs["left_fma_slots"] : costs["even_fma_slots"];
}

/// A large tile whose copies ask for bounds gains nothing by the fewer lines of eight k: medians of 416 pairs within
/// 0.1 %.
double transposed_cycles(const Config& c, const HierarchicalCosts& costs) {
    return c.k_lanes == 8 && !(is_full_tile(c) && c.predicated) ? costs["transposed8_cycles"]
                                                                : costs["transposed_cycles"];
}

double copy_wavefronts(const SimtOperand& operand, const Config& c, double share, const HierarchicalCosts& costs) {
    return share * operand.copies * (operand.transposed ? transposed_cycles(c, costs) : costs["straight_cycles"]);
}

double fill_bytes(const SimtOperand& operand, double extent, double k, DataType type, int alignment) {
    return operand.transposed ? extent * bytes_of_sectors(k * bytes(type), alignment)
                              : k * bytes_of_sectors(extent * bytes(type), alignment);
}

double store_bytes_per_cycle(const Config& c, const SimtHierarchicalGeometry& g, const HierarchicalCosts& costs) {
    if (c.store == EpilogueStore::shared) return costs["neighbour_bytes_per_cycle"];
    return g.vector_d == kQuad ? costs["store_bytes_per_cycle"]
           : g.vector_d == 2   ? costs["pair_bytes_per_cycle"]
                               : costs["element_bytes_per_cycle"];
}

HierarchicalWork block_work(const GemmSpec& spec, const Config& c, const SimtHierarchicalGeometry& g, const Arch& arch,
                            const HierarchicalCosts& costs) {
    const double rows = share_of(spec.m, c.block.m);
    const double columns = share_of(spec.n, c.block.n);
    const double k = std::min(static_cast<double>(spec.k), static_cast<double>(c.block.k));
    const bool splits = c.split_k > 1;
    HierarchicalWork work;
    work.k_tiles = std::ceil(std::ceil(static_cast<double>(spec.k) / c.block.k) / c.split_k);
    work.slots = c.block.k * (fma_slots(c, costs) * fma_issue_cycles(arch) * c.thread.m * c.thread.n +
                              costs["load_slots"] * (c.thread.m + c.thread.n) / kQuad) +
                 costs["copy_slots"] * (g.a.copies + g.b.copies);
    work.wavefronts =
        copy_wavefronts(g.a, c, rows / c.block.m, costs) + copy_wavefronts(g.b, c, columns / c.block.n, costs);
    work.fill_bytes =
        fill_bytes(g.a, rows, k, spec.a, spec.align_a) + fill_bytes(g.b, columns, k, spec.b, spec.align_b);
    work.store_bytes = rows * bytes_of_sectors(columns * (splits ? kFloatBytes : bytes(spec.d)),
                                               splits ? kQuad * kFloatBytes : spec.align_d);
    work.store_cycles = work.store_bytes / store_bytes_per_cycle(c, g, costs);
    return work;
}

/// A k-tile of every resident block. Warps are whole ones of a scheduler: three on one and two on the others take the
/// time of three.
double k_tile_cycles(const Config& c, const SimtHierarchicalGeometry& g, const HierarchicalWork& work, int resident,
                     const HierarchicalCosts& costs, const HardwareCosts& hardware) {
    const double warps = resident * g.threads / static_cast<double>(kWarpLanes);
    const double of_a_scheduler = std::ceil(warps / hardware["schedulers"]);
    const double issue = of_a_scheduler * work.slots * (1 + costs["lone_warp"] / (of_a_scheduler * of_a_scheduler));
    const double fill = resident * work.fill_bytes / costs["l2_bytes_per_cycle"];
    const double loads = (costs["load_latency_cycles"] + fill) / (c.stages - 1);
    return norm({issue, warps * work.wavefronts, fill, loads}, costs["units_exponent"]) +
           costs["barrier_cycles"] / resident;
}

/// Of the k-tiles and the stores of waves, what hides behind each other: later blocks of an SM begin one by one, while
/// others compute.
double hidden_cycles(const CostEstimate& cost, double mainloop_cycles, double store_cycles) {
    const double of_others = 1 - 1.0 / cost.blocks_per_sm;
    return of_others * std::max(0.0, cost.waves - 1) * std::min(mainloop_cycles, store_cycles);
}

/// Launches, and what a second entry does.
double overhead_us(const GemmSpec& spec, const Config& c, double early_launch_us, const HierarchicalCosts& costs) {
    const int entries = c.split_k > 1 || c.blocks_per_wave > 0 ? 2 : 1;
    const double sums = static_cast<double>(spec.m) * static_cast<double>(spec.n);
    double us = costs["launch_us"] - (c.dependent_launch ? entries * early_launch_us : 0);
    if (c.split_k > 1) us += costs["reduce_us"] + c.split_k * sums * kFloatBytes / costs["partial_bytes_per_us"];
    if (c.blocks_per_wave > 0)
        us += costs["add_partials_us"] +
              costs["rest_us_per_byte"] * static_cast<double>(remainder_bytes(spec, c.block, c.blocks_per_wave));
    return us;
}

/// Remainder tiles share a wave out among all SMs: those without a greater part compute the others, `partials` one
/// after the other (templates/scheduler/remainder_tiles.cuh). `last_wave_us` is the wave's time with whole tiles.
void cut_last_wave(CostEstimate& cost, const GemmSpec& spec, const Config& c, const GpuModel& gpu,
                   double last_wave_us) {
    const auto cut = static_cast<double>(remainder_tiles(spec, c.block, c.blocks_per_wave));
    const bool fits = c.blocks_per_wave == gpu.sm_count * cost.blocks_per_sm;
    const double saved_us = fits ? last_wave_us / (std::ceil(cut / (c.blocks_per_wave - cut)) + 1) : 0;
    cost.math_us -= std::min(saved_us, cost.math_us);
    cost.tail_us = std::max(0.0, cost.tail_us - saved_us);
}

}  // namespace

std::vector<SimtHierarchicalConfig> SimtHierarchical::candidates(const Problem& problem, const GpuModel& gpu) {
    std::vector<SimtHierarchicalConfig> candidates;
    for (const Tile& tile : kTiles) add_variants(candidates, problem.row_major(), gpu, tile);
    const bool ends_anywhere = problem.signature.grouped || problem.signature.grouped_by_k;
    for (Config& candidate : candidates) {
        candidate.dependent_launch = dependent_launch_pays(problem.row_major(), *gpu.arch);
        candidate.predicated |= ends_anywhere;
    }
    return candidates;
}

CostEstimate SimtHierarchical::cost(const Problem& problem, const SimtHierarchicalConfig& c, const GpuModel& gpu,
                                    const HierarchicalCosts& costs) {
    const GemmSpec& spec = problem.row_major();
    const SimtHierarchicalGeometry g = geometry(problem.signature, c);
    CostEstimate cost;
    if (g.threads == 0 || c.stages < 2 || c.split_k < 1) return cost;
    cost.blocks_per_sm = estimated_occupancy(g, *gpu.arch).blocks();
    if (cost.blocks_per_sm == 0) return cost;

    const HardwareCosts& hardware = HardwareCosts::of(gpu);
    const HierarchicalWork work = block_work(spec, c, g, *gpu.arch, costs);
    const auto blocks = static_cast<double>(blocks_of_batch({c.block.m, c.block.n, c.split_k}, spec));
    const double clock_mhz = costs["clock_share"] * gpu.clock_mhz;
    const double us_per_cycle = 1 / clock_mhz;
    const auto mainloop_cycles = [&](int resident) {
        return work.k_tiles * k_tile_cycles(c, g, work, resident, costs, hardware);
    };
    const auto wave_cycles = [&](int resident) {
        return resident == 0 ? 0.0 : mainloop_cycles(resident) + resident * work.store_cycles;
    };
    add_waves(cost, blocks, gpu.sm_count, clock_mhz, wave_cycles);
    const int resident = cost.blocks_per_sm;
    cost.math_us += (costs["cold_slots"] * work.slots -
                     hidden_cycles(cost, mainloop_cycles(resident), resident * work.store_cycles)) *
                    us_per_cycle;

    // Each unit alone, its work spread over all SMs.
    const double k_tiles_per_sm = blocks * work.k_tiles / gpu.sm_count;
    const double fmas = static_cast<double>(c.block.m) * c.block.n * c.block.k;
    const double fragment_wavefronts = g.threads / 32.0 * c.block.k * (c.thread.m + c.thread.n) / 4 * 2;
    const double fill_floats = static_cast<double>(c.block.m + c.block.n) * c.block.k;
    cost.math_unit_us = k_tiles_per_sm * 2 * fmas / fma_flops_per_clock(*gpu.arch) * us_per_cycle;
    cost.shared_us = k_tiles_per_sm * (fragment_wavefronts + fill_floats / 32) * us_per_cycle;
    cost.l2_us = k_tiles_per_sm * work.fill_bytes / costs["l2_bytes_per_cycle"] * us_per_cycle;
    cost.dram_us = compulsory_bytes(spec) / (costs["dram_share"] * gpu.dram_bytes_per_second) * 1e6;
    if (c.blocks_per_wave > 0) cut_last_wave(cost, spec, c, gpu, wave_cycles(resident) * us_per_cycle);
    add_total(cost, {.launch_us = overhead_us(spec, c, hardware["early_launch_us"], costs),
                     .waves_us = norm({cost.math_us, cost.dram_us}, costs["sum_exponent"])});
    return cost;
}

double SimtHierarchical::compile_ms(const Config& c) {
    return CompileCost{.base_ms = 96, .ms_per_sum = 4.3}.ms(c.thread.m * c.thread.n);
}

}  // namespace jitgemm
