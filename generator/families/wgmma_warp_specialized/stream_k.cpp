#include "generator/families/wgmma_warp_specialized/stream_k.hpp"

#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/wgmma_warp_specialized/triangle.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

StreamK whole_tiles_of(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c, int clusters) {
    const std::int64_t least = c.schedule == WarpgroupSchedule::overlapped ? 2 : 1;
    const TileIndex tiles = dealt_tiles(spec, c);
    return whole_tiles(tiles.m * tiles.n * std::max<std::int64_t>(1, spec.batch),
                       std::max(least, ceil_div(spec.k, std::max<std::int64_t>(c.block.k, 1))), clusters);
}

}  // namespace

StreamK stream_k(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c) {
    return streamed_tiles(
        whole_tiles_of(spec, c, quotient_or_zero(c.stream_k, bounded_product(c.cluster.m, c.cluster.n))));
}

StreamK tile_deal(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c, const GpuModel& gpu) {
    return c.stream_k != 0 ? stream_k(spec, c)
                           : whole_tiles_of(spec, c, resident_clusters(gpu, bounded_product(c.cluster.m, c.cluster.n)));
}

}  // namespace jitgemm
