#include "generator/families/simt_long_k/cost.hpp"

#include "generator/base/occupancy.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/shared/compile_cost.hpp"
#include "generator/families/shared/cost_total.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/simt_long_k/accesses.hpp"
#include "generator/families/simt_long_k/family.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

// Slots are of a scheduler, which issues one instruction per cycle. Cycles are of an SM.
constexpr double kUsualStageBytes = 16384;  // the unit of long_stage: no measurement changes it

/// One warp's demand for a k-tile: issue slots, those of fmas among them, and wavefronts of the load-store unit.
struct KBlockDemand {
    double fma_slots = 0;
    double slots = 0;
    double wavefronts = 0;
};

int loads_of_step(const SimtLongKOperand& operand) {
    return operand.k_major ? operand.thread : kLongKQuad * operand.thread / operand.piece;
}

/// Wavefronts of the fragments of a k-tile, of all warps.
double fragment_wavefronts(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    return static_cast<double>(long_k_fragment(Operand::a, c, g).wavefronts +
                               long_k_fragment(Operand::b, c, g).wavefronts);
}

KBlockDemand k_tile_demand(const SimtLongKConfig& c, const SimtLongKGeometry& g, double fragments, const Arch& arch,
                           const LongKCosts& costs) {
    KBlockDemand demand;
    demand.fma_slots = static_cast<double>(g.steps) * kLongKQuad * c.thread.m * c.thread.n;
    demand.slots = costs["fma_slots"] * fma_issue_cycles(arch) * demand.fma_slots + costs["block_slots"] +
                   g.steps * (costs["load_slots"] * (loads_of_step(g.a) + loads_of_step(g.b)) +
                              costs["copy_slots"] * (g.a.copies + g.b.copies) + costs["step_slots"]);
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

/// The registers that a thread wants beyond its share of an SM's registers. This estimate separates kernels that spill
/// from others.
double missing_registers(const SimtLongKConfig& c, const SimtLongKGeometry& g, const Arch& arch) {
    constexpr int kUnit = 8;  // in which registers are handed out
    const double wanted = c.thread.m * c.thread.n + 4 * std::min(c.thread.m, c.thread.n) +
                          2 * std::max(c.thread.m, c.thread.n) + 1.5 * (g.a.copies + g.b.copies) + 40;
    const int left = arch.registers_per_sm / (g.threads * c.min_blocks_per_sm) / kUnit * kUnit;
    return std::max(0.0, wanted - std::min(left, arch.max_registers_per_thread));
}

/// An SM with this number of blocks takes these cycles for one k-tile of each.
double k_tile_cycles(const SimtLongKConfig& c, const SimtLongKGeometry& g, const KBlockDemand& demand, double blocks,
                     const LongKCosts& costs, const HardwareCosts& hardware) {
    const double warps = blocks * c.warps;
    const double alone = demand.slots + g.steps * costs["step_latency_cycles"] + costs["barrier_cycles"];
    const double cycles = norm({warps * demand.slots / hardware["schedulers"], warps * demand.wavefronts, alone},
                               costs["units_exponent"]);
    const double stage_bytes = 4.0 * (c.block().m + c.block().n) * c.block_k * blocks;
    const double of_long_stages = costs["long_stage"] * std::max(0.0, std::log2(stage_bytes / kUsualStageBytes));
    return cycles * (1 + of_long_stages + (blocks > 1 ? 0 : costs["lone_block"]));
}

double dram_us(double bytes, const GpuModel& gpu, const LongKCosts& costs) {
    return bytes / (costs["dram_share"] * gpu.dram_bytes_per_second) * 1e6;
}

/// The cost of a config in range, given the wavefronts of its fragments.
CostEstimate cost_of(const Problem& problem, const SimtLongKConfig& c, const SimtLongKGeometry& g, double fragments,
                     const GpuModel& gpu, const LongKCosts& costs) {
    const GemmSpec& spec = problem.row_major();
    CostEstimate cost;
    cost.blocks_per_sm = std::min(estimated_occupancy(g, *gpu.arch).blocks(), c.min_blocks_per_sm);
    if (cost.blocks_per_sm == 0) return cost;

    const HardwareCosts& hardware = HardwareCosts::of(gpu);
    const auto blocks =
        static_cast<double>(block_count({.tile_m = c.block().m, .tile_n = c.block().n, .splits = c.split_k}, spec));
    const double rounds = std::ceil(std::ceil(static_cast<double>(spec.k) / c.block_k) / c.split_k);
    const double on_an_sm = std::ceil(blocks / gpu.sm_count);
    const double warps_of_an_sm = on_an_sm * c.warps;
    const KBlockDemand demand = k_tile_demand(c, g, fragments, *gpu.arch, costs);
    const double us_per_cycle = 1 / (costs["clock_share"] * static_cast<double>(gpu.clock_mhz));
    const double sums = static_cast<double>(spec.m) * static_cast<double>(spec.n);
    cost.waves = blocks / (static_cast<double>(gpu.sm_count) * cost.blocks_per_sm);
    const double missing = missing_registers(c, g, *gpu.arch);
    const double spills = 1 + costs["spill_loss"] * missing + (missing > 0 ? costs["spill_aversion"] : 0);
    cost.math_us = rounds * k_tile_cycles(c, g, demand, on_an_sm, costs, hardware) * spills * us_per_cycle;
    cost.tail_us = cost.math_us * std::max(0.0, 1 - static_cast<double>(spec.k) / (c.split_k * rounds * c.block_k));
    cost.math_unit_us = rounds * warps_of_an_sm * demand.fma_slots / hardware["schedulers"] * us_per_cycle;
    cost.shared_us = rounds * warps_of_an_sm * demand.wavefronts * us_per_cycle;
    const double fill_bytes = 4.0 * (c.block().m + c.block().n) * c.block_k;
    cost.l2_us = rounds * on_an_sm * fill_bytes / hardware["l2_bytes_per_cycle"] * us_per_cycle;
    const double traffic = compulsory_bytes(spec) + 2.0 * 4 * c.split_k * sums;
    cost.dram_us = dram_us(traffic, gpu, costs);
    const double launch_us =
        (c.dependent_launch ? costs["both_early_us"] : costs["both_entries_us"]) +
        costs["us_per_sum"] * sums * c.split_k +
        costs["us_per_reduce_block"] * static_cast<double>(block_count(long_k_reduce_grid(), spec));
    add_total(cost, {.launch_us = launch_us, .waves_us = norm({cost.math_us, cost.dram_us}, costs["sum_exponent"])});
    return cost;
}

}  // namespace

CostEstimate SimtLongK::cost(const Problem& problem, const SimtLongKConfig& c, const GpuModel& gpu,
                             const LongKCosts& costs) {
    if (!is_in_range(c)) return {};
    const SimtLongKGeometry g = geometry(problem.signature, c);
    return cost_of(problem, c, g, fragment_wavefronts(c, g), gpu, costs);
}

double long_k_least_us(const Problem& problem, const SimtLongKConfig& c, const GpuModel& gpu) {
    return cost_of(problem, c, geometry(problem.signature, c), 0, gpu, LongKCosts::of(gpu)).total_us;
}

/// All steps of all tiles, shared out among all schedulers.
double long_k_least_us_of_tile(const Problem& problem, const SimtLongKConfig& c, const GpuModel& gpu) {
    const GemmSpec& spec = problem.row_major();
    const LongKCosts& costs = LongKCosts::of(gpu);
    const SimtLongKGeometry g = geometry(problem.signature, c);
    const double slots = costs["fma_slots"] * kLongKQuad * c.thread.m * c.thread.n +
                         costs["load_slots"] * (loads_of_step(g.a) + loads_of_step(g.b)) + costs["step_slots"];
    const auto tiles = static_cast<double>(block_count({.tile_m = c.block().m, .tile_n = c.block().n}, spec));
    const double steps = tiles * static_cast<double>(spec.k) / (kLongKQuad * c.lanes.k);
    const double schedulers = HardwareCosts::of(gpu)["schedulers"] * gpu.sm_count;
    const double math_us = steps * slots / schedulers / (costs["clock_share"] * static_cast<double>(gpu.clock_mhz));
    return (c.dependent_launch ? costs["both_early_us"] : costs["both_entries_us"]) +
           least_norm(math_us, dram_us(compulsory_bytes(spec), gpu, costs), costs["sum_exponent"]);
}

double SimtLongK::compile_ms(const Config& c) {
    return CompileCost{.base_ms = 161, .ms_per_sum = 0.6}.ms(c.thread.m * c.thread.n);
}

}  // namespace jitgemm
