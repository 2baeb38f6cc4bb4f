#include "generator/families/shared/simt_cost.hpp"

#include "generator/base/occupancy.hpp"
#include "generator/base/roofline.hpp"
#include "generator/families/shared/cost_total.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/simt_anatomy.hpp"
#include "generator/families/shared/simt_cost_constants.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

/// Cycles that one step of k of a block tile keeps each unit of an SM busy, were it alone.
struct StepCycles {
    double fma;
    double load_store;  ///< global loads, a cache line per cycle, and shared memory, a wavefront per cycle
    double shared;      ///< of them, shared memory's
    double l2;
};

StepCycles step_cycles(const GemmSignature& s, const SimtGeometry& g, const Arch& arch, const HardwareCosts& hardware) {
    const double lines_a = simt_lines_per_load(Operand::a, s, g);
    const double lines_b = simt_lines_per_load(Operand::b, s, g);
    StepCycles step{};
    step.fma = 2.0 * g.block.m * g.block.n / fma_flops_per_clock(arch);
    step.l2 = (g.block.m * bytes(s.a) + g.block.n * bytes(s.b)) / hardware["l2_bytes_per_cycle"];
    if (g.uses_shared()) {
        const double loads = static_cast<double>(g.warps()) * (g.tile.m + g.tile.n);
        const double copies = static_cast<double>(g.block.m + g.block.n) / 32;
        step.shared = loads + copies;
        step.load_store = step.shared + copies;
    } else {
        step.load_store = g.warps() * (g.tile.m * lines_a + g.tile.n * lines_b);
    }
    return step;
}

/// Of a whole block tile when `resident` blocks share the SM: the busiest unit, or what a block does one after the
/// other (its copies wait for nobody's arithmetic but the other blocks'), or the latency of a warp's loads.
double tile_cycles(const StepCycles& step, const SimtGeometry& g, double k, double resident, const SimtCosts& costs) {
    const double busy = std::max({step.fma, step.load_store, step.l2}) * k;
    const double panels = g.uses_shared() ? std::ceil(k / g.block.k) : 0;
    const double alone = busy + panels * costs["global_latency_cycles"];
    const double chain = k * costs["load_latency_cycles"] / costs["unrolled_steps"];
    return std::max({resident * busy, alone, chain}) + costs["global_latency_cycles"];
}

}  // namespace

CostEstimate simt_cost(const Problem& problem, const SimtTiling& tiling, const GpuModel& gpu) {
    const GemmSpec& spec = problem.row_major();
    const SimtGeometry g = simt_geometry(problem.signature, tiling);
    CostEstimate cost;
    if (g.threads == 0) return cost;
    cost.blocks_per_sm = estimated_occupancy(g, *gpu.arch).blocks();
    if (cost.blocks_per_sm == 0) return cost;

    const SimtCosts& costs = SimtCosts::of(gpu);
    const auto k = static_cast<double>(spec.k);
    const auto blocks = static_cast<double>(block_count(simt_grid(tiling), spec));
    const auto tiles = static_cast<double>(block_count({.tile_m = g.block.m, .tile_n = g.block.n}, spec));
    const double slots = static_cast<double>(gpu.sm_count) * cost.blocks_per_sm;
    const double at_once = std::max(1.0, std::min(blocks, slots));
    const double resident = std::ceil(at_once / gpu.sm_count);
    cost.waves = blocks / slots;

    const StepCycles step = step_cycles(problem.signature, g, *gpu.arch, HardwareCosts::of(gpu));
    const double us_per_cycle = 1 / static_cast<double>(gpu.clock_mhz);
    const double round_us = tile_cycles(step, g, k, resident, costs) * us_per_cycle;
    const double rounds = std::ceil(tiles / at_once);
    cost.math_us = rounds * round_us;
    cost.tail_us = (rounds - tiles / at_once) * round_us;

    const double steps_per_sm = tiles * k / gpu.sm_count;
    cost.math_unit_us = steps_per_sm * step.fma * us_per_cycle;
    cost.shared_us = steps_per_sm * step.shared * us_per_cycle;
    cost.l1_us = g.uses_shared() ? 0 : steps_per_sm * step.load_store * us_per_cycle;
    cost.l2_us = steps_per_sm * step.l2 * us_per_cycle;
    cost.dram_us = compulsory_bytes(spec) / gpu.dram_bytes_per_second * 1e6;
    add_total(cost, {.launch_us = costs["launch_us"], .waves_us = std::max(cost.math_us, cost.dram_us)});
    return cost;
}

}  // namespace jitgemm
