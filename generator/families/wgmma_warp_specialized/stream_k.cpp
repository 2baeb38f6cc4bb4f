#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"

namespace jitgemm {
namespace {

constexpr std::int64_t kLeastPiece = 4;  // k-tiles; templates/stream_k_walk.cuh

StreamK whole_tiles(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c, int clusters) {
    const auto tiles_along = [](std::int64_t extent, int block, int cluster) {
        return ceil_div(extent, std::max<std::int64_t>(std::int64_t{block} * cluster, 1));
    };
    StreamK deal;
    deal.clusters = std::max(clusters, 1);
    deal.tiles = tiles_along(spec.m, c.block.m, c.cluster.m) * tiles_along(spec.n, c.block.n, c.cluster.n);
    const std::int64_t least = c.schedule == WarpgroupSchedule::overlapped ? 2 : 1;
    deal.k_tiles = std::max(least, tiles_along(spec.k, c.block.k, 1));
    return deal;
}

}  // namespace

StreamK stream_k(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c) {
    StreamK deal = whole_tiles(spec, c, quotient_or_zero(c.stream_k, bounded_product(c.cluster.m, c.cluster.n)));
    const std::int64_t rest = deal.tiles % deal.clusters;
    if (rest != 0 && deal.k_tiles >= 2 * kLeastPiece) deal.streamed = std::min(deal.tiles, rest + deal.clusters);
    return deal;
}

StreamK tile_deal(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c, const GpuModel& gpu) {
    return c.stream_k != 0 ? stream_k(spec, c)
                           : whole_tiles(spec, c, resident_clusters(gpu, bounded_product(c.cluster.m, c.cluster.n)));
}

std::int64_t StreamK::share_begin(std::int64_t cluster) const {
    const std::int64_t cut = streamed * k_tiles * cluster / clusters;
    const std::int64_t in_tile = cut % k_tiles;
    if (in_tile < kLeastPiece) return cut - in_tile;
    return k_tiles - in_tile < kLeastPiece ? cut - in_tile + k_tiles : cut;
}

std::int64_t StreamK::last_of(std::int64_t tile) const {
    const std::int64_t last = (tile + 1) * k_tiles - 1;
    std::int64_t cluster = last * clusters / (streamed * k_tiles);
    while (cluster > 0 && share_begin(cluster) > last) --cluster;
    while (share_begin(cluster + 1) <= last) ++cluster;
    return cluster;
}

std::int64_t StreamK::partial_sums() const {
    std::int64_t count = 0;
    for (std::int64_t cluster = 0; cluster < clusters && streamed != 0; ++cluster) {
        const std::int64_t end = share_begin(cluster + 1);
        if (end % k_tiles != 0 && end != share_begin(cluster)) ++count;
    }
    return count;
}

std::int64_t StreamK::most_partial_sums() const {
    return streamed == 0 ? 0 : ceil_div(clusters, streamed) + (clusters % streamed == 0 ? -1 : 0);
}

}  // namespace jitgemm
