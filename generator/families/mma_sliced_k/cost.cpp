#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/mma_sliced_k/geometry.hpp"
#include "generator/families/shared/cost_total.hpp"
#include "generator/families/shared/cut_rows.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/hardware_costs.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

using Config = MmaSlicedKConfig;

constexpr int kUsualWarps = 8;
constexpr int kFewWarps = 4;  // where two stages of eight are more than shared memory
constexpr int kShallowestRing = 2;
/// Bytes that an SM has in flight. More is no faster, and beyond fifty boxes of each operand it is slower
/// (docs/lab/few-rows.md).
constexpr std::int64_t kBytesInFlight = 144 << 10;
constexpr int kMostBoxes = 48;

/// Sets as many stages as keep kBytesInFlight in flight, with eight warps, or with four if eight don't fit.
void set_ring(Config& c, const GemmSignature& signature, const Arch& arch) {
    for (const int warps : {kUsualWarps, kFewWarps}) {
        c.block.k = warps * sliced_panel_k(signature.a);
        c.stages = 1;
        const std::int64_t of_stage = geometry(signature, c).pipeline_bytes;
        c.stages = std::max(static_cast<int>(kBytesInFlight / of_stage), kShallowestRing);
        if (geometry(signature, c).shared_bytes <= arch.shared_bytes_per_block) return;
    }
}

/// Lines of L2 that a panel's box touches, counted in first lines of its rows.
double lines(const SlicedPanel& panel, std::int64_t pitch, const SlicedKCosts& costs) {
    return panel.box[1] * (1 + costs["second_line"] * second_line_share(pitch * panel.element_bytes));
}

/// Of DRAM's bandwidth.
double dram_share(const GemmSpec& multiplied, const Config& c, const SlicedKCosts& costs) {
    const std::int64_t pitch_bytes = multiplied.lda * bytes(multiplied.a);
    return costs["dram_share"] * (second_line_share(pitch_bytes) > 0 ? costs["cut_line_share"] : 1) *
           (begins_within_sectors(pitch_bytes) ? costs["cut_sector_share"] : 1) *
           (c.stages == kShallowestRing ? costs["two_stages_share"] : 1);
}

/// Cycles of a tile, without its panels.
double tile_cycles(const GemmSpec& multiplied, const Config& c, const SlicedKGeometry& g, const SlicedKCosts& costs) {
    const double sums = static_cast<double>(g.warps) * c.block.m * c.block.n;
    const double ending_rows = multiplied.k % g.panel_k != 0 ? c.block.m : 0;
    return costs["tile_cycles"] + sums / costs["sums_per_cycle"] + costs["ending_row_cycles"] * ending_rows;
}

/// Cycles for the lines of a panel of the few rows, with this share of the SMs at work.
double few_lines_cycles(const SlicedPanel& panel, const GemmSpec& multiplied, const Config& c, double share,
                        const SlicedKCosts& costs) {
    if (panel.k_major) return costs["line_cycles"] * lines(panel, multiplied.ldb, costs);
    const double outside = multiplied.n % c.block.n != 0 ? costs["outside_line_cycles"] : 0;
    return panel.box[1] * (costs["short_line_cycles"] + costs["shared_line_cycles"] * share + outside);
}

}  // namespace

std::vector<Config> MmaSlicedK::candidates(const Problem& problem, const GpuModel& gpu) {
    std::vector<Config> list;
    for (const bool swap_ab : {false, true}) {
        Config c;
        c.swap_ab = swap_ab;
        const GemmSpec multiplied = as_multiplied(problem.row_major(), c.swap_ab);
        c.dependent_launch = dependent_launch_pays(problem.row_major(), *gpu.arch);
        c.early = c.dependent_launch && multiplied.constant_a;
        c.block.n = multiplied.n <= 8 ? 8 : multiplied.n <= 16 ? 16 : 32;
        if (multiplied.n > c.block.n) continue;
        for (const int rows : {16, 32, 64}) {
            c.block.m = rows;
            set_ring(c, problem.signature, *gpu.arch);
            list.push_back(c);
            ++c.stages;
            if (geometry(problem.signature, c).warps * c.stages <= kMostBoxes) list.push_back(c);
        }
    }
    return list;
}

CostEstimate MmaSlicedK::cost(const Problem& problem, const Config& c, const GpuModel& gpu, const SlicedKCosts& costs) {
    CostEstimate cost;
    const GemmSpec spec = as_multiplied(problem.row_major(), c.swap_ab);
    const SlicedKGeometry g = geometry(problem.signature, c);
    if (c.block.m < 1 || g.warps < 1 || g.shared_bytes > gpu.arch->shared_bytes_per_block) return cost;
    cost.blocks_per_sm = 1;
    const HardwareCosts& hardware = HardwareCosts::of(gpu);
    const auto tiles = static_cast<double>(ceil_div(spec.m, std::int64_t{c.block.m}));
    const double k_tiles = std::ceil(static_cast<double>(spec.k) / c.block.k);
    const double panels = k_tiles * g.warps;
    const double us_per_cycle = 1 / static_cast<double>(gpu.clock_mhz);
    const double tile_bytes = static_cast<double>(bytes(spec.a)) * c.block.m * static_cast<double>(spec.k);
    const double dram_bytes_per_us = dram_share(spec, c, costs) * gpu.dram_bytes_per_second / 1e6;
    const auto sm_us = [&](double blocks) {
        const double share = blocks / gpu.sm_count;
        const double box_cycles = 2 * costs["box_cycles"] + costs["line_cycles"] * lines(g.of_long, spec.lda, costs) +
                                  few_lines_cycles(g.of_few, spec, c, share, costs);
        const double rate = share > 0.5 ? costs["bytes_per_cycle_of_two"] : costs["bytes_per_cycle"];
        const double panel_cycles =
            norm({box_cycles, static_cast<double>(g.stage_bytes) / rate}, costs["sum_exponent"]) *
            (g.warps == kFewWarps ? costs["few_warps_slowdown"] : 1);
        const double first_cycles = g.of_few.k_major ? 0 : costs["first_lines_cycles"] * share;
        return (panels * panel_cycles + tile_cycles(spec, c, g, costs) + first_cycles) * us_per_cycle;
    };
    // Of a round of tiles, one per block.
    const auto round_us = [&](double blocks) {
        return norm({sm_us(blocks), blocks * tile_bytes / dram_bytes_per_us}, costs["sum_exponent"]);
    };
    const auto sms = static_cast<double>(gpu.sm_count);
    cost.waves = tiles / sms;
    const double whole = std::floor(cost.waves);
    const double rest = tiles - whole * sms;
    const double busy_us = whole * round_us(sms) + (rest > 0 ? round_us(rest) : 0);
    cost.l2_us = whole * sm_us(sms) + (rest > 0 ? sm_us(rest) : 0);
    cost.dram_us = compulsory_bytes(problem.row_major()) / dram_bytes_per_us;
    cost.tail_us = rest > 0 ? round_us(rest) * (1 - rest / sms) : 0;
    const int mmas_of_k = (c.block.m / g.mma.m) * (c.block.n / g.mma.n);
    const double mmas = panels * g.panel_k / g.mma.k * mmas_of_k;
    cost.math_unit_us = std::ceil(cost.waves) * mmas * hardware["mma_cycles"] / hardware["schedulers"] * us_per_cycle;
    cost.math_us = cost.math_unit_us;
    add_total(cost, {.launch_us = costs["launch_us"] - (c.early ? costs["early_us"] : 0) +
                                  (c.dependent_launch ? -idle_sms_us(tiles, gpu) : hardware["early_launch_us"]),
                     .waves_us = busy_us});
    return cost;
}

double MmaSlicedK::compile_ms(const Config&) { return 136; }

}  // namespace jitgemm
