#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kLeastPiece = 4;  // k-tiles; templates/stream_k_walk.cuh

}  // namespace

StreamK stream_k(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c) {
    StreamK deal;
    deal.clusters = c.stream_k / (c.cluster.m * c.cluster.n);
    deal.tiles = ceil_div<std::int64_t>(spec.m, std::int64_t{c.block.m} * c.cluster.m) *
                 ceil_div<std::int64_t>(spec.n, std::int64_t{c.block.n} * c.cluster.n);
    const std::int64_t least = c.schedule == WarpgroupSchedule::overlapped ? 2 : 1;
    deal.k_tiles = std::max(least, ceil_div<std::int64_t>(spec.k, c.block.k));
    const std::int64_t rest = deal.tiles % deal.clusters;
    if (rest != 0 && deal.k_tiles >= 2 * kLeastPiece) deal.streamed = std::min(deal.tiles, rest + deal.clusters);
    return deal;
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
