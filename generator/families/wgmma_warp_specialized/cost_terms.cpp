#include "generator/families/wgmma_warp_specialized/cost_terms.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/packed_operand.hpp"
#include "generator/base/sector.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr double kUsualTile = 128 * 256;  // the unit of constants "for a tile of 128x256": no measurement changes it

/// Of the operands, the share that is fetched early.
double early_share(const GemmSpec& spec, const Config& c) {
    const double a = c.early_a ? static_cast<double>(spec.m) : 0;
    const double b = c.early_b ? static_cast<double>(spec.n) : 0;
    return (a + b) / static_cast<double>(std::max<std::int64_t>(1, spec.m + spec.n));
}

/// A block splits a strip of lines in steps, one after the other. In each, a thread has 32 of K
/// (templates/common/split.cuh, whose constants these are).
double split_steps(const PackedOperand& operand) {
    constexpr double kWideStrip = 32, kNarrowStrip = 8;
    constexpr std::int64_t kManyLines = 2048;
    if (!operand.parts || !operand.is_transposed) return 0;
    const auto groups = static_cast<double>(operand.groups());
    return operand.parts->passes() *
           std::ceil(groups / (kPackThreads / (operand.rows > kManyLines ? kWideStrip : kNarrowStrip)));
}

}  // namespace

double bytes_per_sum(const GemmSpec& spec) {
    const EpilogueParts* const epilogue = parts_of(spec);
    const bool has_pairs = epilogue != nullptr && epilogue->pairs != EpiloguePairs::none;
    return bytes(spec.d) / (has_pairs ? 2.0 : 1.0);
}

double usual_tiles(const Config& c) { return c.block.m * c.block.n / kUsualTile; }

double epilogue_cycles(const Config& c, const WgmmaCosts& costs) {
    const double tiles = usual_tiles(c);
    const double turned = c.swap_ab ? costs["transposing_cycles"] : 0;
    switch (c.schedule) {
        case WarpgroupSchedule::pingpong: return costs["pingpong_cycles"] * tiles + turned;
        case WarpgroupSchedule::overlapped:
            return costs["exposed_overlap_cycles"] + costs["overlap_cycles"] * tiles + turned;
        default: return costs["exposed_epilogue_cycles"] + costs["epilogue_cycles"] * tiles + turned;
    }
}

double last_epilogue_cycles(const Config& c, const WgmmaCosts& costs) {
    if (c.schedule != WarpgroupSchedule::pingpong) return 0;
    return costs["exposed_pingpong_cycles"] + costs["last_pingpong_cycles"] * usual_tiles(c);
}

EpilogueWork epilogue_work(const GemmSignature& signature, const Config& c, bool through_ring) {
    EpilogueWork work;
    if (!signature.epilogue) {
        if (!signature.c) return work;
        work.vectors = c.broadcast_c ? 1 : 0;
        work.in_ring = through_ring && !c.broadcast_c;
        work.by_element = !through_ring && !c.broadcast_c;
        return work;
    }
    const EpilogueCounts& counts = signature.epilogue->counts();
    work.vectors = counts.vectors;
    work.in_ring = through_ring && ring_operand(signature) != nullptr;
    work.matrices = counts.matrices - (work.in_ring ? 1 : 0);
    work.elements = has_pairs(signature) ? 0.5 : 1;
    work.special = counts.special;
    work.others = counts.others;
    return work;
}

double work_cycles(const EpilogueWork& work, const Config& c, const HardwareCosts& hardware, const WgmmaCosts& costs) {
    const bool alternates = c.schedule == WarpgroupSchedule::pingpong;
    const double steps = std::ceil(c.warpgroup.n / 16.0) * (static_cast<double>(c.warpgroup.m) / kWgmmaM);
    const double of_step = (work.by_element ? costs["read_c_cycles"] : 0) + work.matrices * costs["read_matrix_cycles"];
    const double of_ring = alternates ? costs["pingpong_ring_c_cycles"] : costs["ring_c_cycles"];
    const double of_math = alternates ? costs["pingpong_math_share"] : costs["math_share"];
    const double of_element = work.special / hardware["special_per_cycle"] + work.others / hardware["others_per_cycle"];
    const double of_elements = of_step * steps / (alternates ? 2 : 1) + (work.in_ring ? of_ring * usual_tiles(c) : 0) +
                               of_math * of_element * static_cast<double>(c.block.m) * c.block.n;
    return of_elements * work.elements + work.vectors * costs["broadcast_c_cycles"];
}

double store_slowdown(const GemmSpec& spec, const Config& c, const WgmmaCosts& costs) {
    if (c.swap_ab) return 1;
    return static_cast<int>(c.block.n * bytes_per_sum(spec)) % static_cast<int>(kSectorBytes) == 0 ||
                   spec.n <= c.block.n
               ? 1
               : costs["shared_sector"];
}

double store_cycles(const GemmSpec& spec, const Config& c, double slowdown, const WgmmaCosts& costs) {
    const int stores = spec.symmetric ? 2 : 1;  // of most tiles
    const double tile_bytes = static_cast<double>(c.block.m) * c.block.n * bytes_per_sum(spec) * slowdown * stores;
    if (c.store == OutputStore::tma) return tile_bytes / costs["store_bytes_per_cycle"];
    return costs["row_store_cycles"] +
           tile_bytes / std::min(costs["store_bytes_per_cycle"], costs["row_store_bytes_per_cycle"] * spec.align_d);
}

GemmSpec as_packed(GemmSpec spec) {
    if (copies_a(spec)) spec.lda = packed_a(spec).pitch();
    if (copies_b(spec)) spec.ldb = packed_b(spec).pitch();
    const bool a_by_row = order_a(spec.layout) == Order::row || transposes_a(spec);
    const bool b_by_row = order_b(spec.layout) == Order::row && !transposes_b(spec);
    spec.layout = layout_of(a_by_row ? Order::row : Order::column, b_by_row ? Order::row : Order::column);
    return spec;
}

double dram_bytes_per_us(const GpuModel& gpu, const WgmmaCosts& costs) {
    return costs["dram_share"] * gpu.dram_bytes_per_second / 1e6;
}

double pack_us(const GemmSpec& spec, const Config& c, const GpuModel& gpu, const WgmmaCosts& costs) {
    const Pack pack = pack_for_tma(spec);
    if (pack == Pack::none) return 0;
    const double traffic_us = packing_traffic(spec, pack) / (costs["pack_share"] * gpu.dram_bytes_per_second) * 1e6;
    const double split_us = costs["split_step_us"] * std::max(packs_a(pack) ? split_steps(packed_a(spec)) : 0,
                                                              packs_b(pack) ? split_steps(packed_b(spec)) : 0);
    return (c.dependent_launch ? costs["dependent_pack_us"] : costs["pack_us"]) + std::max(traffic_us, split_us);
}

double streamed_cycles(const Config& c, const StreamK& deal, double k_tile, double per_tile, const WgmmaCosts& costs) {
    const double share = static_cast<double>(deal.streamed) / static_cast<double>(deal.clusters);  // of a tile
    const double slowdown = c.cluster.m * c.cluster.n == 1 ? costs["lone_pieces_slowdown"] : costs["pieces_slowdown"];
    const double pieces = share * static_cast<double>(deal.k_tiles) * k_tile;
    return pieces + std::min((slowdown - 1) * pieces, costs["most_pieces_cycles"]) +
           std::ceil(share) * epilogue_cycles(c, costs) +
           static_cast<double>(deal.whole_tiles_per_cluster()) * per_tile;
}

double meeting_cycles(const Config& c, std::int64_t partial_sums, const WgmmaCosts& costs) {
    const double bytes = static_cast<double>(c.block.m) * c.block.n * 4;
    return costs["meeting_cycles"] + bytes / costs["leaving_bytes_per_cycle"] +
           static_cast<double>(partial_sums) * (costs["partial_sum_cycles"] + bytes / costs["taking_bytes_per_cycle"]);
}

double cluster_us(int blocks, const WgmmaCosts& costs) {
    return blocks == 1 ? 0 : blocks <= 4 ? costs["cluster_us"] : costs["largest_cluster_us"];
}

double launch_us(const GemmSpec& spec, const Config& c, int blocks, const WgmmaCosts& costs) {
    return (c.dependent_launch ? costs["dependent_launch_us"] : costs["launch_us"]) -
           costs["early_us"] * early_share(spec, c) + cluster_us(blocks, costs) +
           (spec.k > c.block.k ? 0 : costs["lone_k_tile_us"]);
}

double energy_slowdown(const Config& c, bool larger_is_shared, const WgmmaCosts& costs) {
    const double schedule = c.schedule == WarpgroupSchedule::pingpong     ? costs["pingpong_energy"]
                            : c.schedule == WarpgroupSchedule::overlapped ? costs["overlapped_energy"]
                                                                          : 1;
    const double energy = schedule * (1 + costs["energy_per_edge"] * (1.0 / c.block.m + 1.0 / c.block.n) +
                                      (larger_is_shared ? 0 : costs["energy_without_multicast"]));
    return std::pow(energy / costs["usual_energy"], costs["energy_exponent"]);
}

}  // namespace jitgemm
