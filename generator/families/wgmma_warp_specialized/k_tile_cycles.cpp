#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"

#include "generator/base/round_up.hpp"
#include "generator/families/shared/cut_rows.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/norm.hpp"
#include "generator/families/shared/readers.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr int kStagesBeingRead = 1;  // of the ring, by wgmmas: no loads are in flight there

/// L2's work for one block's share of an operand's k-tile, in bytes of rows that begin with a line. If n blocks share
/// a request, the work falls by less than the factor n: L2 seems to serve neighbours' requests for a line together
/// also without sharing.
double fetched_bytes(const PanelledTile& tile, std::int64_t pitch, const WgmmaCosts& costs) {
    return static_cast<double>(tile.bytes) / std::pow(tile.shares, costs["shares_exponent"]) *
           line_work(pitch * tile.element_bytes, costs);
}

/// Rows of one block's boxes that reach beyond an operand's extent, of the mean k-tile. TMA fills them with zeros,
/// slower than it reads others. Of a cluster that reaches beyond, whole blocks may lie outside.
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

/// Of the boxes that a block fetches for the last k-tile, which reaches beyond K: rows that lie there, where they are
/// K's, and rows that end there, where they lie along K. Both for the mean k-tile.
struct LastRows {
    double beyond = 0;
    double cut = 0;
};
LastRows last_rows(const PanelledTile& tile, std::int64_t k, int block, int block_k) {
    const std::int64_t inside = k % block_k;
    if (inside == 0) return {};
    const double of_mean = 1 / (static_cast<double>(ceil_div<std::int64_t>(k, block_k)) * tile.shares);
    if (tile.k_major) return {.cut = block * of_mean};
    return {.beyond = static_cast<double>(block_k - inside) * tile.panels * of_mean};
}

/// TMA takes these cycles on top for rows that it fills up with zeros.
double filling_cycles(const GemmSpec& multiplied, const Config& c, const WgmmaGeometry& g, double at_work,
                      const GpuModel& gpu, const WgmmaCosts& costs) {
    const double outside = outside_rows(g.a, multiplied.m, c.block.m, c.cluster.m, c.block.k) +
                           outside_rows(g.b, multiplied.n, c.block.n, c.cluster.n, c.block.k);
    const LastRows a = last_rows(g.a, multiplied.k, c.block.m, c.block.k);
    const LastRows b = last_rows(g.b, multiplied.k, c.block.n, c.block.k);
    const double cut_row =
        (multiplied.k <= c.block.k ? costs["lone_cut_row_cycles"] : costs["cut_row_cycles"]) * at_work / gpu.sm_count;
    return costs["outside_row_cycles"] * outside + costs["beyond_k_cycles"] * (a.beyond + b.beyond) +
           cut_row * (a.cut + b.cut);
}

/// Bytes of an operand's k-tile that one block fetches, and that are not in its half of L2 yet. So many fetch each of
/// them.
double first_bytes(const PanelledTile& tile, double readers) {
    return static_cast<double>(tile.bytes) / tile.shares * first_share(readers);
}

/// Of a block.
double fetch_cycles(const GemmSpec& multiplied, const Config& c, const WgmmaGeometry& g, double at_work,
                    const GpuModel& gpu, const WgmmaCosts& costs) {
    const double fetched = fetched_bytes(g.a, multiplied.lda, costs) + fetched_bytes(g.b, multiplied.ldb, costs);
    const double first = first_bytes(g.a, readers(multiplied.n, c.block.n, g.a.shares)) +
                         first_bytes(g.b, readers(multiplied.m, c.block.m, g.b.shares));
    const int of_tpc = at_work > gpu.sm_count / 2.0 ? 2 : 1;  // blocks
    const double to_sm = std::max(fetched / costs["l2_bytes_per_cycle"],
                                  static_cast<double>(g.stage_bytes) / costs["multicast_bytes_per_cycle"]);
    const double from_l2 = norm({to_sm, fetched * at_work / costs["l2_bytes_per_cycle_of_all"]}, costs["l2_exponent"]);
    return norm({from_l2, first * of_tpc / costs["first_bytes_per_cycle"]}, costs["overlap_exponent"]) +
           filling_cycles(multiplied, c, g, at_work, gpu, costs);
}

/// Blocks of a pair wait for each other: for what they share, and for what each of them fetches for itself.
double pair_slowdown(const GemmSpec& multiplied, const Config& c, const WgmmaCosts& costs) {
    const double first_of_a = first_share(readers(multiplied.n, c.block.n));
    const double first_of_b = first_share(readers(multiplied.m, c.block.m));
    const auto [shared, own] = c.cluster.m == 1 ? std::pair(first_of_a, first_of_b) : std::pair(first_of_b, first_of_a);
    const double slowdown = 1 + costs["sharing_pair"] * (1 - shared) + costs["streaming_pair"] * own;
    return slowdown * (c.schedule == WarpgroupSchedule::pingpong ? 1 + costs["pingpong_pair"] : 1);
}

/// A thread reads a wave's scales of one operand.
double read_cycles(const WgmmaScale& scale, int wave_n, const WgmmaCosts& costs) {
    const int lines = scale.is_of_rows ? 2 : wave_n / (scale.stride() == 4 ? 8 : 4);  // columns in pairs
    const int rows = scale.pairs == EpiloguePairs::none ? 1 : 2;
    const int blocks = scale.is_of_rows ? rows : std::max(1, wave_n / std::max(scale.step, 1));
    const int reads = scale.is_by_block ? blocks : lines;
    return costs["scale_cycles"] * reads;
}

/// Waves of sums that are scaled before they are added, while tensor cores wait. The consumers of a block add theirs
/// at the same time, and share what issues their instructions.
double scaled_waves_cycles(const WgmmaGeometry& g, double waves, int wave_n, const WgmmaCosts& costs) {
    const double sums = wave_n / 2.0;  // of a thread
    double of_wave = g.partial_sets == 2
                         ? costs["alternating_scaled_wave_cycles"] + costs["alternating_scaled_sum_cycles"] * sums
                         : costs["scaled_wave_cycles"] + costs["scaled_sum_cycles"] * sums;
    for (const WgmmaScale& scale : g.scales) of_wave += read_cycles(scale, wave_n, costs);
    return std::pow(waves, costs["scaled_waves_exponent"]) * of_wave;
}

/// A k-tile's scales on their way to shared memory. If k-blocks lie side by side, each line is in a sector of its own.
/// L1 holds those of the next k-tiles, unless there are too many lines.
double copied_scales_cycles(const WgmmaGeometry& g, const WgmmaCosts& costs) {
    constexpr int kMostLines = 160;
    double cycles = 0;
    for (const WgmmaScale& scale : g.scales) {
        if (!scale.is_k_contiguous || scale.is_by_block) continue;
        const double beyond_l1 = std::max(0, scale.parts() - kMostLines);
        cycles += !scale.is_by_threads
                      ? costs["tma_scale_cycles"] * scale.parts()
                      : costs["copied_scale_cycles"] * scale.parts() + costs["far_scale_cycles"] * beyond_l1;
    }
    return cycles;
}

}  // namespace

double multiply_cycles(const Config& c, const WgmmaGeometry& g, const HardwareCosts& hardware,
                       const WgmmaCosts& costs) {
    const int wave_n = std::max(g.wave_n, 1);
    const double read = static_cast<double>(kWgmmaM + wave_n) * kWgmmaRowBytes;
    const double per_wgmma = std::max(wave_n / 2.0, read / hardware["wgmma_shared_bytes_per_cycle"]);
    const double all =
        static_cast<double>(c.block.m) / kWgmmaM * c.block.n / wave_n * c.block.k / g.wgmma_k * g.terms * per_wgmma;
    if (c.promote == 0) return all;
    const double adding = wave_n / 2.0 + costs["promote_cycles"];  // an addition per cycle and register
    const double waves = static_cast<double>(c.warpgroup.m) / kWgmmaM * c.warpgroup.n / wave_n * c.block.k / c.promote;
    const bool takes_turns = c.schedule == WarpgroupSchedule::pingpong;
    if (!g.scales.empty()) return all + scaled_waves_cycles(g, waves * std::max(g.consumers, 1), wave_n, costs);
    // With two sets a consumer's own wgmmas hide what it adds, but for the issue.
    const double exposed = g.partial_sets == 2 ? 0 : waves * adding;
    const double of_consumer = (takes_turns ? all : all / std::max(g.consumers, 1)) + exposed;
    return std::max(all, norm({all, of_consumer}, costs["overlap_exponent"]));
}

double line_work(std::int64_t pitch_bytes, const WgmmaCosts& costs) {
    const double fifth_sector =
        begins_within_sectors(pitch_bytes) ? costs["fifth_sector"] / 8 : 0;  // half of the rows have one
    return 1 + costs["second_line"] * second_line_share(pitch_bytes) + fifth_sector;
}

KTileCycles k_tile_cycles(const GemmSpec& multiplied, const Config& c, const WgmmaGeometry& g, const StreamK& deal,
                          const GpuModel& gpu, double dram_cycles, const WgmmaCosts& costs) {
    KTileCycles cycles{};
    cycles.multiply = multiply_cycles(c, g, HardwareCosts::of(gpu), costs);
    const std::int64_t cluster_blocks = std::int64_t{c.cluster.m} * c.cluster.n;
    const auto at_work = static_cast<double>(deal.clusters_at_work() * cluster_blocks);
    cycles.fetch = fetch_cycles(multiplied, c, g, at_work, gpu, costs);
    const double both = norm({cycles.multiply, cycles.fetch}, costs["overlap_exponent"]);
    cycles.all = std::max({both, costs["producer_cycles"], copied_scales_cycles(g, costs)});
    const double in_flight = std::max(cycles.all, dram_cycles) * std::max(1, c.stages - kStagesBeingRead);
    if (in_flight < costs["deep_pipeline_cycles"])
        cycles.all *= 1 + costs["shallow_pipeline"] * (costs["deep_pipeline_cycles"] / in_flight - 1);
    if (!g.b.k_major && c.warpgroup.n % g.b.box[0] != 0) cycles.all *= costs["part_panel"];
    if (cluster_blocks == 2) cycles.all *= pair_slowdown(multiplied, c, costs);
    return cycles;
}

}  // namespace jitgemm
