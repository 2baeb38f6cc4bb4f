#include "generator/base/occupancy.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/norm.hpp"
#include "generator/families/simt_long_k/accesses.hpp"
#include "generator/families/simt_long_k/family.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

namespace jitgemm {
namespace {

// ---- candidates -----------------------------------------------------------------------------------------------------

constexpr int kMostWarps = 16;
constexpr int kMostResident = 4;
constexpr int kMostOfATile = 64;         // along M or N
constexpr int kMostThreadElements = 16;  // along M or N
constexpr int kMostThreadSums = 128;
constexpr int kLeastStageBytes = 8 << 10;
constexpr int kMostStageBytes = 68 << 10;
constexpr int kLongestBlockK = 2048;
constexpr int kInFlightBytes = 72 << 10;  // of an SM: what hides DRAM's latency, with some to spare
constexpr int kDeepestPipeline = 8;
constexpr int kSmallestDeepPipeline = 3;  // stages

/// Elements along M or N that a thread may have so that `lanes` of them cover a tile's extent: as few as possible, or a
/// few more that come in pairs or quads.
std::set<int> thread_extents(std::int64_t extent, int lanes, bool k_major) {
    const std::int64_t tiles = std::max<std::int64_t>(1, (extent + kMostOfATile - 1) / kMostOfATile);
    const int least = static_cast<int>((extent + tiles * lanes - 1) / (tiles * lanes));
    if (k_major) return {least};
    return {least, (least + 1) / 2 * 2, (least + 3) / 4 * 4};
}

/// Stages enough to hide DRAM's latency where they fit.
int stages_for(SimtLongKConfig config, const GemmSignature& problem, const Arch& arch) {
    config.stages = 1;
    const std::int64_t stage = std::max<std::int64_t>(geometry(problem, config).pipeline_bytes, 1);
    const std::int64_t room = arch.shared_bytes_per_sm / config.min_blocks_per_sm - arch.shared_reserved_per_block;
    const std::int64_t fitting = std::min<std::int64_t>(room, arch.shared_bytes_per_block) / stage;
    const std::int64_t wanted = 1 + (kInFlightBytes / config.min_blocks_per_sm + stage - 1) / stage;
    return static_cast<int>(
        std::min<std::int64_t>({fitting, std::max<std::int64_t>(wanted, kSmallestDeepPipeline), kDeepestPipeline}));
}

/// As many blocks as run at once, or fewer where that many leave some of them a k-tile more than others.
std::set<int> splits_for(const GemmSpec& spec, const SimtLongKConfig& config, const GpuModel& gpu) {
    const GridRule grid{.tile_m = config.block().m, .tile_n = config.block().n};
    const std::int64_t tiles = std::max<std::int64_t>(1, block_count(grid, spec));
    const std::int64_t k_tiles = std::max<std::int64_t>(1, (spec.k + config.block_k - 1) / config.block_k);
    const std::int64_t most =
        std::clamp<std::int64_t>(std::int64_t{gpu.sm_count} * config.min_blocks_per_sm / tiles, 1, k_tiles);
    const std::int64_t rounds = (k_tiles + most - 1) / most;
    return {static_cast<int>(most), static_cast<int>((k_tiles + rounds - 1) / rounds)};
}

void add_depths(std::vector<SimtLongKConfig>& candidates, const Problem& problem, const GpuModel& gpu,
                SimtLongKConfig config) {
    const int step = kLongKQuad * config.warps * config.lanes.k;
    for (config.block_k = std::max(step, 32); config.block_k <= kLongestBlockK; config.block_k *= 2) {
        const int stage_bytes = 4 * (config.block().m + config.block().n) * config.block_k;
        const bool is_small = stage_bytes < kLeastStageBytes && 2 * config.block_k <= kLongestBlockK;
        if (is_small) continue;
        if (stage_bytes * config.min_blocks_per_sm > kMostStageBytes) break;
        config.stages = stages_for(config, problem.signature, *gpu.arch);
        if (config.stages < 2) break;
        for (const int splits : splits_for(problem.row_major, config, gpu)) {
            config.split_k = splits;
            candidates.push_back({config});
        }
    }
}

void add_shapes(std::vector<SimtLongKConfig>& candidates, const Problem& problem, const GpuModel& gpu,
                TileShape lanes) {
    const GemmSpec& spec = problem.row_major;
    SimtLongKConfig config;
    config.lanes = lanes;
    for (const int thread_m : thread_extents(spec.m, lanes.m, order_a(spec.layout) == Order::row))
        for (const int thread_n : thread_extents(spec.n, lanes.n, order_b(spec.layout) == Order::column)) {
            if (thread_m > kMostThreadElements || thread_n > kMostThreadElements) continue;
            if (thread_m * thread_n > kMostThreadSums) continue;
            config.thread = {thread_m, thread_n, 1};
            for (config.warps = 4; config.warps <= kMostWarps; config.warps *= 2)
                for (config.min_blocks_per_sm = 1; config.min_blocks_per_sm <= kMostResident;
                     ++config.min_blocks_per_sm)
                    add_depths(candidates, problem, gpu, config);
        }
}

// ---- cost -----------------------------------------------------------------------------------------------------------

// Slots are of a scheduler, which issues one instruction per cycle. Cycles are of an SM.
constexpr double kUsualStageBytes = 16384;

/// What one warp takes for a k-tile: issue slots, of them those of fmas, and wavefronts of the load-store unit.
struct KBlockDemand {
    double fma_slots = 0;
    double slots = 0;
    double wavefronts = 0;
};

KBlockDemand k_tile_demand(const SimtLongKConfig& c, const SimtLongKGeometry& g, const LongKCosts& costs) {
    const auto loads = [](const SimtLongKOperand& operand) {
        return operand.k_major ? operand.thread : kLongKQuad * operand.thread / operand.piece;
    };
    KBlockDemand demand;
    demand.fma_slots = static_cast<double>(g.steps) * kLongKQuad * c.thread.m * c.thread.n;
    demand.slots = costs["fma_slots"] * demand.fma_slots + costs["block_slots"] +
                   g.steps * (costs["load_slots"] * (loads(g.a) + loads(g.b)) +
                              costs["copy_slots"] * (g.a.copies + g.b.copies) + costs["step_slots"]);
    const auto fragments = static_cast<double>(long_k_fragment(Operand::a, c, g).wavefronts +
                                               long_k_fragment(Operand::b, c, g).wavefronts);
    demand.wavefronts = costs["fragment_cycles"] * fragments / c.warps +
                        g.steps * costs["copy_cycles"] * (g.a.copies * g.a.vector + g.b.copies * g.b.vector);
    return demand;
}

/// Whether everything a cost is made of can be computed: parameters that people fix are checked afterwards.
bool is_in_range(const SimtLongKConfig& c) {
    const auto within = [](int value, int most) { return value >= 1 && value <= most; };
    constexpr int kAnyCount = 4096;
    return within(c.thread.m, kMostThreadElements) && within(c.thread.n, kMostThreadElements) &&
           within(c.lanes.m, kWarpLanes) && within(c.lanes.n, kWarpLanes) && within(c.lanes.k, kWarpLanes) &&
           within(c.warps, kWarpLanes) && within(c.stages, kAnyCount) && within(c.min_blocks_per_sm, kWarpLanes) &&
           within(c.block_k, kAnyCount) && within(c.split_k, kAnyCount);
}

/// Registers that a thread wants beyond those that the blocks of an SM leave it: an estimate of what tells kernels that
/// spill.
double missing_registers(const SimtLongKConfig& c, const SimtLongKGeometry& g, const Arch& arch) {
    constexpr int kUnit = 8;  // in which registers are handed out
    const double wanted = c.thread.m * c.thread.n + 4 * std::min(c.thread.m, c.thread.n) +
                          2 * std::max(c.thread.m, c.thread.n) + 1.5 * (g.a.copies + g.b.copies) + 40;
    const int left = arch.registers_per_sm / (g.threads * c.min_blocks_per_sm) / kUnit * kUnit;
    return std::max(0.0, wanted - std::min(left, arch.max_registers_per_thread));
}

/// Of an SM with so many blocks, for one k-tile of each.
double k_tile_cycles(const SimtLongKConfig& c, const SimtLongKGeometry& g, double blocks, const LongKCosts& costs,
                     const HardwareCosts& hardware) {
    const KBlockDemand demand = k_tile_demand(c, g, costs);
    const double warps = blocks * c.warps;
    const double alone = demand.slots + g.steps * costs["step_latency_cycles"] + costs["barrier_cycles"];
    const double cycles = norm({warps * demand.slots / hardware["schedulers"], warps * demand.wavefronts, alone},
                               costs["units_exponent"]);
    const double stage_bytes = 4.0 * (c.block().m + c.block().n) * c.block_k * blocks;
    const double of_long_stages = costs["long_stage"] * std::max(0.0, std::log2(stage_bytes / kUsualStageBytes));
    return cycles * (1 + of_long_stages + (blocks > 1 ? 0 : costs["lone_block"]));
}

}  // namespace

std::vector<SimtLongKConfig> SimtLongK::candidates(const Problem& problem, const GpuModel& gpu) {
    std::vector<SimtLongKConfig> candidates;
    for (int m = 1; m <= kWarpLanes; m *= 2)
        for (int n = 1; m * n <= kWarpLanes; n *= 2) add_shapes(candidates, problem, gpu, {m, n, kWarpLanes / (m * n)});
    for (SimtLongKConfig& candidate : candidates)
        candidate.dependent_launch = dependent_launch_pays(problem.row_major, *gpu.arch);
    return candidates;
}

CostEstimate SimtLongK::cost(const Problem& problem, const SimtLongKConfig& c, const GpuModel& gpu,
                             const LongKCosts& costs) {
    const GemmSpec& spec = problem.row_major;
    CostEstimate cost;
    if (!is_in_range(c)) return cost;
    const SimtLongKGeometry g = geometry(problem.signature, c);
    cost.blocks_per_sm = std::min(estimated_occupancy(g, *gpu.arch).blocks(), c.min_blocks_per_sm);
    if (cost.blocks_per_sm == 0) return cost;

    const HardwareCosts& hardware = HardwareCosts::of(gpu);
    const auto blocks =
        static_cast<double>(block_count({.tile_m = c.block().m, .tile_n = c.block().n, .splits = c.split_k}, spec));
    const double rounds = std::ceil(std::ceil(static_cast<double>(spec.k) / c.block_k) / c.split_k);
    const double on_an_sm = std::ceil(blocks / gpu.sm_count);
    const double warps_of_an_sm = on_an_sm * c.warps;
    const KBlockDemand demand = k_tile_demand(c, g, costs);
    const double us_per_cycle = 1 / (costs["clock_share"] * static_cast<double>(gpu.clock_mhz));
    const double sums = static_cast<double>(spec.m) * static_cast<double>(spec.n);
    cost.waves = blocks / (static_cast<double>(gpu.sm_count) * cost.blocks_per_sm);
    const double missing = missing_registers(c, g, *gpu.arch);
    const double spills = 1 + costs["spill_loss"] * missing + (missing > 0 ? costs["spill_aversion"] : 0);
    cost.math_us = rounds * k_tile_cycles(c, g, on_an_sm, costs, hardware) * spills * us_per_cycle;
    cost.tail_us = cost.math_us * std::max(0.0, 1 - static_cast<double>(spec.k) / (c.split_k * rounds * c.block_k));
    cost.math_unit_us = rounds * warps_of_an_sm * demand.fma_slots / hardware["schedulers"] * us_per_cycle;
    cost.shared_us = rounds * warps_of_an_sm * demand.wavefronts * us_per_cycle;
    const double fill_bytes = 4.0 * (c.block().m + c.block().n) * c.block_k;
    cost.l2_us = rounds * on_an_sm * fill_bytes / hardware["l2_bytes_per_cycle"] * us_per_cycle;
    const double traffic = compulsory_bytes(spec) + 2.0 * 4 * c.split_k * sums;
    cost.dram_us = traffic / (costs["dram_share"] * gpu.dram_bytes_per_second) * 1e6;
    cost.overhead_us = (c.dependent_launch ? costs["both_early_us"] : costs["both_entries_us"]) +
                       costs["us_per_sum"] * sums * c.split_k +
                       costs["us_per_reduce_block"] * static_cast<double>(block_count(long_k_reduce_grid(), spec));
    cost.total_us = cost.overhead_us + norm({cost.math_us, cost.dram_us}, costs["sum_exponent"]);
    return cost;
}

}  // namespace jitgemm
