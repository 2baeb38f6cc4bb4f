#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/compile_cost.hpp"
#include "generator/families/shared/cost_total.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/wgmma_warp_specialized/cost_terms.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"
#include "generator/families/wgmma_warp_specialized/operand_traffic.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/write_order.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

/// A matrix of the epilogue takes stages of the ring. A tile needs this time for its share of the ring's rounds. It
/// limits problems of few k-tiles and many tiles.
double ring_cycles(const Config& c, const WgmmaGeometry& g, double k_tiles, double waves, const WgmmaCosts& costs) {
    if (g.c_stages == 0 || waves <= 1) return 0;
    const int halves = c.schedule == WarpgroupSchedule::overlapped ? 2 : 1;
    const double per_element = c.schedule == WarpgroupSchedule::pingpong ? costs["pingpong_round_cycles_per_element"]
                                                                         : costs["ring_round_cycles_per_element"];
    const double elements = static_cast<double>(c.block.m) * c.block.n;
    return (costs["ring_round_cycles"] + per_element * elements) *
           std::min(1.0, (k_tiles + halves * g.c_stages) / c.stages);
}

/// The time from one tile to the next, if each has a block of its own: a block begins when another has ended. It was
/// not measured.
double between_tiles_cycles(const Config& c, double waves, double stored, const WgmmaCosts& costs) {
    return c.persistent || waves <= 1 ? 0 : (std::ceil(waves) - 1) * (costs["prologue_cycles"] + stored);
}

/// DRAM's part takes this many times as long if a single wave leaves SMs without a block. DRAM serves TPCs alike. A
/// block that has a TPC to itself is done in half the time of two that share one. From then on these two get no more
/// than a TPC's rate. All blocks request their first stages at once.
double uneven_share(const GemmSpec& spec, const StreamK& deal, const Config& c, const GpuModel& gpu,
                    const WgmmaCosts& costs) {
    const double tpcs = gpu.sm_count / 2.0;
    const double blocks = static_cast<double>(deal.tiles) * c.cluster.m * c.cluster.n;
    if (deal.streamed != 0 || deal.tiles > deal.clusters || blocks < 1 || spec.k < 1) return 1;
    const double of_all = dram_bytes_per_us(gpu, costs) / static_cast<double>(gpu.clock_mhz);  // per cycle
    const double of_tpc = HardwareCosts::of(gpu)["tpc_bytes_per_cycle"];
    const auto cycles_per_byte = [&](double takers) { return 1 / std::min(of_tpc, of_all / takers); };
    const double both =
        blocks <= tpcs ? cycles_per_byte(blocks) : cycles_per_byte(tpcs) + cycles_per_byte(blocks - tpcs);
    const double later = std::max(0.0, 1 - static_cast<double>(c.stages) * c.block.k / static_cast<double>(spec.k));
    return 1 + later * std::max(0.0, both * of_all / blocks - 1);
}

/// The launch, the prologue and the last epilogue. `stored`: cycles to store a tile.
double overhead_us(const GemmSpec& spec, const Config& c, const StreamK& deal, double stored, double us_per_cycle,
                   const WgmmaCosts& costs) {
    return launch_us(spec, c, bounded_product(c.cluster.m, c.cluster.n), costs) +
           (costs["prologue_cycles"] + stored + last_epilogue_cycles(c, costs) +
            (deal.streamed == 0 ? 0 : meeting_cycles(c, deal.most_partial_sums(), costs))) *
               us_per_cycle;
}

}  // namespace

CostEstimate WgmmaWarpSpecialized::cost(const Problem& problem, const Config& c, const GpuModel& gpu,
                                        const WgmmaCosts& costs) {
    const GemmSpec& row_major = problem.row_major();
    const GemmSpec spec = as_multiplied(as_packed(row_major), c.swap_ab);
    const GemmSignature signature = as_multiplied(problem.signature, c.swap_ab);
    const WgmmaGeometry g = geometry(signature, c);
    CostEstimate cost;
    if (g.shared_bytes > gpu.arch->shared_bytes_per_block || g.consumers == 0) return cost;
    cost.blocks_per_sm = 1;
    const StreamK deal = tile_deal(spec, c, gpu);
    const double k_tiles = std::max(1.0, std::ceil(static_cast<double>(spec.k) / c.block.k));
    const double slowdown = store_slowdown(row_major, c, costs);
    const double us_per_cycle = 1 / (costs["clock_share"] * gpu.clock_mhz);
    cost.waves = static_cast<double>(deal.tiles) / static_cast<double>(deal.clusters);
    const double d_bytes = bytes_of_d(spec);
    const double longer_written = slowdown - 1 + write_slowdown(spec, c, deal, gpu, costs) - 1;
    const double us_per_byte = 1 / dram_bytes_per_us(gpu, costs);
    cost.dram_us =
        (compulsory_bytes(spec) + longer_written * d_bytes + refetched_bytes(spec, c, deal, gpu, costs)) * us_per_byte;
    cost.dram_us *= uneven_share(spec, deal, c, gpu, costs);
    const double turns = deal.streamed != 0 ? cost.waves : std::ceil(cost.waves);
    const KTileCycles cycles =
        k_tile_cycles(spec, c, g, deal, gpu,
                      operand_bytes(spec) * us_per_byte / us_per_cycle / std::max(1.0, turns * k_tiles), costs);
    const double stored = store_cycles(row_major, c, slowdown, costs);
    const double work = work_cycles(epilogue_work(signature, c, g.c_stages != 0), c, HardwareCosts::of(gpu), costs);
    const double per_tile = std::max(k_tiles * cycles.all + epilogue_cycles(c, costs) + work,
                                     std::max(stored, ring_cycles(c, g, k_tiles, cost.waves, costs)));
    cost.math_us = us_per_cycle * (deal.streamed != 0 ? streamed_cycles(c, deal, cycles.all, per_tile, costs)
                                                      : std::ceil(cost.waves) * per_tile +
                                                            between_tiles_cycles(c, cost.waves, stored, costs));
    cost.tail_us = std::max(0.0, cost.math_us - cost.waves * per_tile * us_per_cycle);
    cost.math_unit_us = cost.waves * k_tiles * cycles.multiply * us_per_cycle;
    cost.l2_us = cost.waves * k_tiles * cycles.fetch * us_per_cycle;
    const CostTerms terms{.launch_us = overhead_us(spec, c, deal, stored, us_per_cycle, costs),
                          .waves_us = norm({cost.math_us, cost.dram_us}, costs["sum_exponent"]),
                          .slowdown = c.swap_ab ? costs["turned_share"] : 1,
                          .packing_us = pack_us(row_major, c, gpu, costs),
                          .power_bound_us = costs["power_bound_us"]};
    const bool larger_is_shared = c.block.m >= c.block.n ? g.a.shares > 1 : g.b.shares > 1;
    add_total(cost, terms, [&] { return energy_slowdown(c, larger_is_shared, costs); });
    return cost;
}

double WgmmaWarpSpecialized::compile_ms(const Config& c) {
    // By schedule; for each one with D stored by TMA and row by row.
    constexpr CompileCost kWhole[3][2] = {{{101, 1.7}, {141, 2.4}}, {{97, 1.9}, {131, 2.6}}, {{8, 3.7}, {8, 5.2}}};
    constexpr CompileCost kStreamed[3][2] = {
        {{101, 3.1}, {144, 3.8}}, {{151, 2.6}, {213, 3}}, {{287, 3.5}, {350, 3.5}}};
    const auto schedule = static_cast<std::size_t>(c.schedule);
    const std::size_t by_row = c.store == OutputStore::tma ? 0 : 1;
    return (c.stream_k == 0 ? kWhole : kStreamed)[schedule][by_row].ms(c.warpgroup.m * c.warpgroup.n / 128);
}

}  // namespace jitgemm
