#include "generator/draw/kernel_rasterization.hpp"

#include "generator/draw/legend.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/svg.hpp"
#include "jitgemm/data_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::int64_t kMostTiles = 40;                         // drawn along each side
constexpr std::int64_t kCountedTiles = std::int64_t{1} << 14U;  // looked through for the first wave's: a second or so
constexpr int kLongestGridSide = 520;                           // of the drawing, in pixels
constexpr int kLargestTile = 36;
constexpr int kTileWithText = 24;
constexpr int kGridTop = 20;
constexpr int kGridLeft = 30;
constexpr int kFirstWaveColor = 16;
constexpr int kOddWaveColor = 5;
constexpr int kEvenWaveColor = 4;

/// Extent of the tile at this index that lies inside the matrix.
std::int64_t cut_extent(std::int64_t tile, int extent, std::int64_t whole) {
    return std::min<std::int64_t>(extent, whole - tile * extent);
}

TileSchedule in_row_order(TileSchedule schedule) {
    schedule.order.rasterization = Rasterization::row;
    return schedule;
}

std::string order_text(const RasterOrder& order) {
    const std::string group = fmt::format("groups of {} tiles", order.group);
    switch (order.rasterization) {
        case Rasterization::row: return "row by row";
        case Rasterization::column: return "column by column";
        case Rasterization::grouped_m: return group + " along M";
        case Rasterization::grouped_n: return group + " along N";
        case Rasterization::zigzag: return group + " along M, forth and back";
    }
    return {};
}

TileOrder order_of(const GemmSpec& spec, const TileSchedule& schedule, const KernelRasterization& r) {
    TileOrder order;
    for (std::int64_t block = 0; block < r.first_wave; ++block)
        order.first_wave.push_back(work_of_block(schedule, block, r.tiles).tile);
    for (std::int64_t m = 0; m < r.drawn.m; ++m) {
        for (std::int64_t n = 0; n < r.drawn.n; ++n)
            order.block_of.push_back(first_block_of_tile(schedule, {m, n}, r.tiles));
    }
    order.footprint = wave_footprint(spec, schedule, r.first_wave);
    return order;
}

// ---- where only the parameters and Family::owner tell the order

std::string order_name(const KernelConfig& config) {
    const ParameterMap parameters = parameters_of(config);
    const auto order = parameters.find("rasterization");
    if (order == parameters.end()) return "as the grid numbers its blocks";
    const auto group = parameters.find("group");
    return group == parameters.end() || group->second == "1"
               ? order->second
               : fmt::format("{}, groups of {}", order->second, group->second);
}

std::int64_t block_of(const Problem& problem, const KernelConfig& config, const TileShape& block, TileIndex tile) {
    return family_of(config).owner(problem, config, tile.m * block.m, tile.n * block.n).block;
}

/// Returns the sum of the tiles' extents, as far as they lie inside the matrix.
std::int64_t cut_extents(const std::set<std::int64_t>& tiles, int extent, std::int64_t whole) {
    std::int64_t sum = 0;
    for (const std::int64_t tile : tiles) sum += cut_extent(tile, extent, whole);
    return sum;
}

using NumberedTile = std::pair<std::int64_t, TileIndex>;

/// Those numbered below `most` of the tiles (m, n) with (m + 1)(n + 1) <= reach, and how many tiles these are: each
/// rectangle of this number of tiles in the corner is among them, whatever its sides.
template <typename NumberOf>
std::pair<std::vector<NumberedTile>, std::int64_t> numbered_in_corner(TileIndex tiles, std::int64_t reach,
                                                                      std::int64_t most, const NumberOf& number_of) {
    std::vector<NumberedTile> found;
    std::int64_t looked_at = 0;
    for (std::int64_t m = 0; m < std::min(tiles.m, reach); ++m) {
        const std::int64_t columns = std::min(tiles.n, reach / (m + 1));
        for (std::int64_t n = 0; n < columns; ++n)
            if (const std::int64_t number = number_of(TileIndex{m, n}); number < most)
                found.push_back({number, {m, n}});
        looked_at += columns;
    }
    return {found, looked_at};
}

/// Tiles of the first wave in their order; none where some lie far from the corner that orders begin in, or blocks take
/// more tiles than one.
template <typename NumberOf>
std::vector<NumberedTile> first_tiles(const KernelRasterization& r, const NumberOf& number_of) {
    const std::int64_t all = r.tiles.m * r.tiles.n;
    const auto wanted = static_cast<std::size_t>(std::min(r.first_wave, all));
    for (std::int64_t reach = r.first_wave; reach > 0; reach *= 2) {
        auto [found, looked_at] = numbered_in_corner(r.tiles, reach, r.first_wave, number_of);
        if (found.size() < wanted && looked_at < std::min(all, kCountedTiles)) continue;
        std::ranges::sort(found, {}, &NumberedTile::first);
        const bool twice = std::ranges::adjacent_find(found, {}, &NumberedTile::first) != found.end();
        return twice || (found.size() < wanted && looked_at < all) ? std::vector<NumberedTile>() : found;
    }
    return {};
}

/// The order in which `number_of(tile)` counts the tiles.
template <typename NumberOf>
TileOrder order_by(const GemmSpec& spec, const TileShape& block, const KernelRasterization& r,
                   const NumberOf& number_of) {
    TileOrder order;
    for (std::int64_t m = 0; m < r.drawn.m; ++m)
        for (std::int64_t n = 0; n < r.drawn.n; ++n) order.block_of.push_back(number_of(TileIndex{m, n}));
    std::set<std::int64_t> rows, columns;
    for (const auto& [number, tile] : first_tiles(r, number_of)) {
        order.first_wave.push_back(tile);
        rows.insert(tile.m), columns.insert(tile.n);
    }
    order.footprint = {cut_extents(rows, block.m, spec.m) * spec.k * bytes(spec.a),
                       cut_extents(columns, block.n, spec.n) * spec.k * bytes(spec.b)};
    return order;
}

/// Pixels of a tile's side.
int tile_size(TileIndex drawn) {
    const auto longest = static_cast<int>(std::max<std::int64_t>({drawn.m, drawn.n, 1}));
    return std::min(kLargestTile, kLongestGridSide / longest);
}

std::string classes_of(std::int64_t wave) {
    return "p " + color_class(wave == 0 ? kFirstWaveColor : wave % 2 == 0 ? kEvenWaveColor : kOddWaveColor);
}

Box tile_box(TileIndex tile, int size) {
    return {kGridLeft + static_cast<int>(tile.n) * size, kGridTop + static_cast<int>(tile.m) * size, size, size};
}

void draw_tile(Svg& svg, const KernelRasterization& r, std::int64_t block, TileIndex tile) {
    const int size = tile_size(r.drawn);
    const std::int64_t wave = block / r.first_wave;
    const Hint hint{fmt::format("block {} → tile ({}, {})\nwave {}", block, tile.m, tile.n, wave),
                    fmt::format("wave {}", wave)};
    svg.box(tile_box(tile, size), classes_of(wave), hint, size >= kTileWithText ? std::to_string(block) : "");
}

/// Through the middles of the first wave's tiles, as far as they are drawn; splits beyond the first repeat them.
std::string wave_path(const KernelRasterization& r, const TileOrder& order) {
    std::string points;
    const auto tiles = static_cast<std::size_t>(r.tiles.m * r.tiles.n);
    for (std::size_t block = 0; block < std::min(order.first_wave.size(), tiles); ++block) {
        const TileIndex tile = order.first_wave[block];
        if (tile.m >= r.drawn.m || tile.n >= r.drawn.n) break;
        const Box box = tile_box(tile, tile_size(r.drawn));
        points += fmt::format("{},{} ", box.x + box.width / 2, box.y + box.height / 2);
    }
    return points;
}

std::string order_figure(const KernelRasterization& r, const TileOrder& order, const std::string& caption) {
    const Box last = tile_box({r.drawn.m - 1, r.drawn.n - 1}, tile_size(r.drawn));
    Svg svg(last.x + last.width + 2, last.y + last.height + 2);
    svg.text(kGridLeft, 12, "n, tiles →", "q");
    svg.text(0, kGridTop + 12, "m ↓", "q");
    for (std::size_t tile = 0; tile < order.block_of.size(); ++tile) {
        const auto index = static_cast<std::int64_t>(tile);
        draw_tile(svg, r, order.block_of[tile], {index / r.drawn.n, index % r.drawn.n});
    }
    svg.path(wave_path(r, order), "w");
    return svg.figure(caption, true);
}

double percent_less(std::int64_t small, std::int64_t large) {
    return 100 - 100 * static_cast<double>(small) / static_cast<double>(large);
}

std::string caption_of(const KernelRasterization& r, const std::string& name, const TileOrder& order) {
    const bool cut = r.drawn != r.tiles;
    const std::string part = cut ? fmt::format("; the upper left {}×{} tiles", r.drawn.m, r.drawn.n) : "";
    if (order.first_wave.empty()) return name + part;
    const WaveFootprint& footprint = order.footprint;
    return fmt::format("{}: {} in the first wave (A {}, B {}){}", name, megabytes(footprint.total()),
                       megabytes(footprint.a_bytes), megabytes(footprint.b_bytes), part);
}

/// Returns a sentence that compares the two footprints.
std::string verdict(const KernelRasterization& r) {
    if (r.own.first_wave.empty()) return std::string(kFirstWaveUnknown) + ".";
    const std::int64_t own = r.own.footprint.total();
    const std::int64_t plain = r.row_major.footprint.total();
    const std::string compared = fmt::format("The first wave reads {} in this kernel's order and {} row by row",
                                             megabytes(own), megabytes(plain));
    if (r.blocks <= r.first_wave) return compared + ": all blocks are in one wave, so the order makes no difference.";
    if (own == plain) return compared + ": the order makes no difference here.";
    const bool both_fit = std::max(own, plain) <= r.l2_bytes;
    const std::string size = both_fit ? fmt::format(", and L2 ({}) holds either", megabytes(r.l2_bytes)) : "";
    if (own < plain)
        return fmt::format("{}: its patch is squarer and needs {:.0f} % less{}.", compared, percent_less(own, plain),
                           size);
    return fmt::format("{}: a row of tiles is short here, and whole rows make a patch that is squarer by {:.0f} %{}.",
                       compared, percent_less(plain, own), size);
}

}  // namespace

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6); }

WaveFootprint wave_footprint(const GemmSpec& spec, const TileSchedule& schedule, std::int64_t count) {
    const TileIndex tiles = tiles_of(schedule.block, spec.m, spec.n);
    std::set<std::pair<int, std::int64_t>> rows;  // (split, tile) whose part of A, or B, is read
    std::set<std::pair<int, std::int64_t>> columns;
    for (std::int64_t block = 0; block < count; ++block) {
        const auto [tile, split] = work_of_block(schedule, block, tiles);
        rows.insert({split, tile.m});
        columns.insert({split, tile.n});
    }
    const auto k_extent = [&](int split) {
        const KRange range = k_range_of_split(schedule, split, spec.k);
        return range.end - range.first;
    };
    WaveFootprint footprint;
    for (const auto& [split, tile] : rows)
        footprint.a_bytes += cut_extent(tile, schedule.block.m, spec.m) * k_extent(split) * bytes(spec.a);
    for (const auto& [split, tile] : columns)
        footprint.b_bytes += cut_extent(tile, schedule.block.n, spec.n) * k_extent(split) * bytes(spec.b);
    return footprint;
}

KernelRasterization kernel_rasterization(const Problem& problem, const KernelConfig& config,
                                         const KernelAnatomy& anatomy, const GpuModel& gpu, int blocks_per_sm) {
    const GemmSpec& spec = problem.row_major();
    const TileShape& block = anatomy.block;
    KernelRasterization r;
    r.tiles = tiles_of(block, spec.m, spec.n);
    r.splits = anatomy.split_k;
    r.blocks = r.tiles.m * r.tiles.n * r.splits;
    r.sm_count = gpu.sm_count;
    r.blocks_per_sm = blocks_per_sm;
    r.l2_bytes = gpu.l2_bytes;
    r.first_wave = std::min<std::int64_t>(r.blocks, std::int64_t{gpu.sm_count} * std::max(blocks_per_sm, 1));
    r.drawn = {std::min(r.tiles.m, kMostTiles), std::min(r.tiles.n, kMostTiles)};
    if (const auto& pipeline = anatomy.ldmatrix_pipeline) {
        r.order = order_text(pipeline->schedule.order);
        r.own = order_of(spec, pipeline->schedule, r);
        r.row_major = order_of(spec, in_row_order(pipeline->schedule), r);
    } else {
        r.order = order_name(config);
        r.own = order_by(spec, block, r, [&](TileIndex tile) { return block_of(problem, config, block, tile); });
        r.row_major = order_by(spec, block, r, [&](TileIndex tile) { return tile.m * r.tiles.n + tile.n; });
    }
    return r;
}

std::string rasterization_html(const KernelRasterization& r) {
    if (r.first_wave == 0) return "<p>No block: there is nothing to compute.</p>\n";
    std::vector<ColorMeaning> waves{{kFirstWaveColor, "first wave; the line is the order of its blocks"}};
    if (r.blocks > r.first_wave) waves.push_back({kOddWaveColor, "waves 1, 3, 5 …"});
    if (r.blocks > 2 * r.first_wave) waves.push_back({kEvenWaveColor, "waves 2, 4, 6 …"});
    return fmt::format("<p>{}</p>\n", verdict(r)) + legend(waves) + "<div class=\"side\">" +
           order_figure(r, r.own, caption_of(r, "This kernel, " + r.order, r.own)) +
           order_figure(r, r.row_major, caption_of(r, "Row by row", r.row_major)) + "</div>\n";
}

}  // namespace jitgemm
