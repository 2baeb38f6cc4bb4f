#include "generator/families/wgmma_warp_specialized/least_time.hpp"

#include "generator/base/roofline.hpp"
#include "generator/base/round_up.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/norm.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/shared/readers.hpp"
#include "generator/families/wgmma_warp_specialized/cost_terms.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wgmma_warp_specialized/k_tile_cycles.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/write_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

// The last one stands for all clusters of four and of eight blocks: a tile has no more sharers in any of these.
constexpr std::array<TileShape, 4> kSharings{{{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {4, 4, 1}}};
constexpr std::array kLargeClusterBlocks{4, 8};

bool is_large(const TileShape& cluster) { return cluster.m * cluster.n > 2; }

std::int64_t cluster_tiles(TileIndex tiles, const TileShape& cluster) {
    return ceil_div(tiles.m, std::int64_t{cluster.m}) * ceil_div(tiles.n, std::int64_t{cluster.n});
}

/// With stream-K, of a tile, where so few tiles are shared that the number matters. Tiles of large clusters may be
/// cut in either direction.
std::int64_t least_partial_sums(TileIndex tiles, const TileShape& cluster, int clusters) {
    const std::int64_t most_tiles = is_large(cluster)
                                        ? std::max((tiles.m + 1) * (tiles.n + 3), (tiles.m + 3) * (tiles.n + 1))
                                        : cluster_tiles(tiles, cluster);
    return std::max<std::int64_t>(1, clusters / std::max<std::int64_t>(most_tiles, 1) - 1);
}

/// With fewer k-tiles no tile is streamed.
bool may_stream(double k_tiles) {
    return streamed_tiles(whole_tiles(1, static_cast<std::int64_t>(k_tiles), 2)).streamed != 0;
}

}  // namespace

LeastTime::LeastTime(const Problem& problem, const Config& common, const GpuModel& gpu)
    : gpu_(gpu),
      costs_(WgmmaCosts::of(gpu)),
      row_major_(problem.row_major()),
      spec_(as_multiplied(as_packed(problem.row_major()), common.swap_ab)),
      signature_(as_multiplied(problem.signature, common.swap_ab)),
      work_by_threads_(epilogue_work(signature_, common, false)),
      work_in_ring_(epilogue_work(signature_, common, true)),
      us_per_cycle_(1 / (costs_["clock_share"] * gpu.clock_mhz)),
      dram_us_per_byte_(1 / dram_bytes_per_us(gpu, costs_)),
      operand_cycles_(operand_bytes(spec_) * dram_us_per_byte_ / us_per_cycle_),
      d_us_(bytes_of_d(spec_) * dram_us_per_byte_),
      dram_us_(compulsory_bytes(spec_) * dram_us_per_byte_ +
               (is_bound_by_writes(spec_, gpu) ? (costs_["writes"] - 1) * d_us_ : 0)),
      packing_us_(pack_us(row_major_, common, gpu, costs_)),
      a_line_work_(line_work(spec_.lda * bytes(spec_.a), costs_)),
      b_line_work_(line_work(spec_.ldb * bytes(spec_.b), costs_)),
      sharings_{sharing_of(kSharings[0]), sharing_of(kSharings[1]), sharing_of(kSharings[2]), sharing_of(kSharings[3])},
      l2_cycles_(static_cast<std::size_t>(gpu.sm_count) + 1, 0) {}

LeastTime::Sharing LeastTime::sharing_of(const TileShape& cluster) const {
    const auto requests = [&](int shares) { return 1 / std::pow(shares, costs_["shares_exponent"]); };
    const int blocks = cluster.m * cluster.n;
    Sharing sharing{.cluster = cluster,
                    .launch_us = cluster_us(blocks, costs_),
                    .clusters = resident_clusters(gpu_, blocks),
                    .blocks_at_work = 0,
                    .of_a = cluster.n,
                    .of_b = cluster.m,
                    .a_requests = requests(cluster.n),
                    .b_requests = requests(cluster.m)};
    sharing.blocks_at_work = sharing.clusters * blocks;
    if (!is_large(cluster)) return sharing;
    const auto held = [&](int size) { return resident_clusters(gpu_, size) * size; };
    sharing.launch_us =
        std::min(cluster_us(kLargeClusterBlocks[0], costs_), cluster_us(kLargeClusterBlocks[1], costs_));
    sharing.clusters = std::max(held(kLargeClusterBlocks[0]), held(kLargeClusterBlocks[1]));  // of one block each
    sharing.blocks_at_work = std::min(held(kLargeClusterBlocks[0]), held(kLargeClusterBlocks[1]));
    return sharing;
}

const LeastTime::Sharing& LeastTime::known_sharing(const TileShape& cluster) const {
    if (is_large(cluster)) return sharings_.back();
    return *std::ranges::find(sharings_, cluster, &Sharing::cluster);
}

LeastTime::Tile LeastTime::tile_of(const Config& c) const {
    Config alone = c;
    alone.cluster = {1, 1, 1};
    const WgmmaGeometry g = geometry(signature_, alone);
    const double slowdown = store_slowdown(row_major_, c, costs_);
    const double stored = store_cycles(row_major_, c, slowdown, costs_);
    const auto stages = static_cast<int>(gpu_.arch->shared_bytes_per_block / g.stage_bytes);
    const double meeting = meeting_cycles(c, 0, costs_);
    const double k_tiles = std::max(1.0, std::ceil(static_cast<double>(spec_.k) / c.block.k));
    return {.count = tiles_of(c.block, spec_.m, spec_.n),
            .k_tiles = k_tiles,
            .may_stream = may_stream(k_tiles),
            .multiply = multiply_cycles(c, g, HardwareCosts::of(gpu_), costs_),
            .a_bytes = g.a.bytes,
            .b_bytes = g.b.bytes,
            .most_stages = std::min(kMostStages, stages),
            .epilogue = epilogue_cycles(c, costs_),
            .work = std::min(work_cycles(work_by_threads_, c, HardwareCosts::of(gpu_), costs_),
                             work_cycles(work_in_ring_, c, HardwareCosts::of(gpu_), costs_)),
            .stored = stored,
            .ending = costs_["prologue_cycles"] + stored + last_epilogue_cycles(c, costs_),
            .meeting = meeting,
            .partial_sum = meeting_cycles(c, 1, costs_) - meeting,
            .launch_us = launch_us(spec_, c, 1, costs_),
            .dram_us = dram_us_ + (slowdown - 1) * d_us_};
}

double LeastTime::l2_cycles_per_byte(int at_work) {
    double& known = l2_cycles_[static_cast<std::size_t>(at_work)];
    if (known == 0)
        known = norm({1 / costs_["l2_bytes_per_cycle"], at_work / costs_["l2_bytes_per_cycle_of_all"]},
                     costs_["l2_exponent"]);
    return known;
}

double LeastTime::fetch_cycles(const Tile& tile, const Sharing& sharing, int at_work) {
    const double requests =
        tile.a_bytes * a_line_work_ * sharing.a_requests + tile.b_bytes * b_line_work_ * sharing.b_requests;
    const auto first_bytes = [](double bytes, std::int64_t readers, int shares) {
        return bytes / shares * first_share(static_cast<double>(ceil_div<std::int64_t>(readers, shares)));
    };
    const double first =
        first_bytes(tile.a_bytes, tile.count.n, sharing.of_a) + first_bytes(tile.b_bytes, tile.count.m, sharing.of_b);
    const int of_tpc = at_work > gpu_.sm_count / 2.0 ? 2 : 1;
    return std::max({requests * l2_cycles_per_byte(at_work),
                     (tile.a_bytes + tile.b_bytes) / costs_["multicast_bytes_per_cycle"],
                     first * of_tpc / costs_["first_bytes_per_cycle"]});
}

double LeastTime::k_tile_cycles(const Tile& tile, const Sharing& sharing, double waves, std::int64_t at_work) {
    const auto blocks = static_cast<int>(std::min<std::int64_t>(at_work, gpu_.sm_count));
    const double both = least_norm(tile.multiply, fetch_cycles(tile, sharing, blocks), costs_["overlap_exponent"]);
    const double cycles = std::max(both, costs_["producer_cycles"]);
    const double from_dram = operand_cycles_ / std::max(1.0, waves * tile.k_tiles);
    const double in_flight = std::max(cycles, from_dram) * std::max(1, tile.most_stages - 1);
    const double deep = costs_["deep_pipeline_cycles"];
    return in_flight < deep ? cycles * (1 + costs_["shallow_pipeline"] * (deep / in_flight - 1)) : cycles;
}

/// A launch at the power limit may be faster than the bound of all others.
double LeastTime::launched(const Config& c, const Tile& tile, const Sharing& sharing, double tile_cycles,
                           double meeting_cycles) const {
    const double tiles_us = least_norm(tile_cycles * us_per_cycle_, tile.dram_us, costs_["sum_exponent"]);
    const double us = (tile.launch_us + sharing.launch_us + (tile.ending + meeting_cycles) * us_per_cycle_ + tiles_us) *
                          (c.swap_ab ? costs_["turned_share"] : 1) +
                      packing_us_;
    const double power_bound_us = costs_["power_bound_us"];
    if (us < power_bound_us / 2) return us;
    const double slowdown = energy_slowdown(c, true, costs_);
    return us > power_bound_us ? us * slowdown : std::min(us, power_bound_us * slowdown);
}

double LeastTime::in_sharing(const Config& c, const Tile& tile, const Sharing& sharing) {
    const TileShape cluster = is_large(sharing.cluster) ? TileShape{1, 1, 1} : sharing.cluster;
    const std::int64_t of_d = cluster_tiles(tile.count, cluster);
    const std::int64_t count = spec_.symmetric ? ceil_div<std::int64_t>(of_d, 2) : of_d;
    const double waves = static_cast<double>(count) / sharing.clusters;
    const std::int64_t at_work = std::min<std::int64_t>(count * cluster.m * cluster.n, sharing.blocks_at_work);
    const double mainloop = tile.k_tiles * k_tile_cycles(tile, sharing, waves, at_work);
    const double whole = std::ceil(waves) * std::max(mainloop + tile.epilogue + tile.work, tile.stored);
    const double us = launched(c, tile, sharing, whole, 0);
    if (!tile.may_stream) return us;
    const double slowdown = std::min(costs_["pieces_slowdown"], costs_["lone_pieces_slowdown"]) - 1;
    const double streamed = waves * mainloop + tile.epilogue +
                            std::min(slowdown * std::min(1.0, waves) * mainloop, costs_["most_pieces_cycles"]);
    const auto sums = static_cast<double>(least_partial_sums(tile.count, sharing.cluster, sharing.clusters));
    const double meeting = tile.meeting + sums * tile.partial_sum;
    return streamed + meeting < whole ? std::min(us, launched(c, tile, sharing, streamed, meeting)) : us;
}

double LeastTime::in_any_cluster(const Config& config, const Tile& tile) {
    double least = std::numeric_limits<double>::infinity();
    for (const Sharing& sharing : sharings_) least = std::min(least, in_sharing(config, tile, sharing));
    return least;
}

double LeastTime::in_cluster(const Config& config, const Tile& tile, const TileShape& cluster) {
    return in_sharing(config, tile, known_sharing(cluster));
}

double LeastTime::with_stream_k(const Config& config, const Tile& tile) {
    const Sharing& sharing = known_sharing(config.cluster);
    const StreamK deal = stream_k(spec_, config);
    const double waves = static_cast<double>(deal.tiles) / static_cast<double>(deal.clusters);
    const double k_tile = k_tile_cycles(tile, sharing, waves, deal.clusters * config.cluster.m * config.cluster.n);
    const double per_tile = std::max(tile.k_tiles * k_tile + tile.epilogue + tile.work, tile.stored);
    return launched(config, tile, sharing, streamed_cycles(config, deal, k_tile, per_tile, costs_),
                    tile.meeting + static_cast<double>(deal.most_partial_sums()) * tile.partial_sum);
}

}  // namespace jitgemm
