#include "generator/families/wgmma_warp_specialized/triangle.hpp"

#include "generator/base/round_up.hpp"
#include "generator/families/shared/bounded.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

/// A bad config may have any numbers.
TileShape tile_of_cluster(const Config& c) {
    return {std::max(1, bounded_product(c.block.m, c.cluster.m)), std::max(1, bounded_product(c.block.n, c.cluster.n)),
            c.block.k};
}

std::int64_t squares_of(const GemmSpec& spec, const Config& c) { return ceil_div(spec.m, square_of(c)); }

}  // namespace

std::int64_t square_of(const Config& c) {
    const TileShape tile = tile_of_cluster(c);
    return std::max(tile.m, tile.n);
}

bool has_squares(const Config& c) {
    const TileShape tile = tile_of_cluster(c);
    return tile.m % tile.n == 0 || tile.n % tile.m == 0;
}

bool has_mirrors(const Config& c, const WgmmaGeometry& g) {
    return g.slice_columns >= kSliceRows && c.warpgroup.n % g.slice_columns == 0;
}

TileIndex dealt_tiles(const GemmSpec& spec, const Config& c) {
    const TileShape tile = tile_of_cluster(c);
    if (!spec.symmetric) return tiles_of(tile, spec.m, spec.n);
    const std::int64_t squares = squares_of(spec, c), square = square_of(c);
    return {(squares + 1) / 2 * (square / tile.m), (squares | 1) * (square / tile.n)};
}

TileIndex place_among_dealt(TileIndex tile, const GemmSpec& spec, const Config& c) {
    if (!spec.symmetric) return tile;
    const TileShape shape = tile_of_cluster(c);
    const std::int64_t squares = squares_of(spec, c), down = square_of(c) / shape.m, across = square_of(c) / shape.n;
    const std::int64_t is_even = 1 - squares % 2;
    std::int64_t i = tile.m / down, j = tile.n / across;
    if (i < (squares + 1) / 2) {
        j += is_even;
    } else {
        i = squares - is_even - i;
        j = squares - 1 - j;
    }
    return {i * down + tile.m % down, j * across + tile.n % across};
}

}  // namespace jitgemm
