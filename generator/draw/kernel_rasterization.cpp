#include "generator/draw/kernel_rasterization.hpp"

#include "generator/data_type.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::int64_t kMostTiles = 40;  // drawn along each side
constexpr int kLongestSide = 520;        // of the drawing, in pixels
constexpr int kLargestTile = 36;
constexpr int kTileWithText = 24;
constexpr int kTop = 20;
constexpr int kLeft = 24;

/// Extent of the tile at this index that lies inside the matrix.
std::int64_t cut_extent(std::int64_t tile, int extent, std::int64_t whole) {
    return std::min<std::int64_t>(extent, whole - tile * extent);
}

MmaMultistageConfig in_row_order(MmaMultistageConfig config) {
    config.rasterization = Rasterization::row;
    config.group = 1;
    return config;
}

std::string order_text(const MmaMultistageConfig& config) {
    const std::string group = fmt::format("strips of {} tiles", config.group);
    switch (config.rasterization) {
        case Rasterization::row: return "row by row";
        case Rasterization::column: return "column by column";
        case Rasterization::grouped_m: return group + " along M";
        case Rasterization::grouped_n: return group + " along N";
        case Rasterization::zigzag: return group + " along M, forth and back";
    }
    return {};
}

std::vector<TileIndex> order_of(const MmaMultistageConfig& config, TileIndex tiles) {
    std::vector<TileIndex> order;
    const std::int64_t count = std::min(tiles.m * tiles.n, std::int64_t{1} << 16U);
    for (std::int64_t block = 0; block < count; ++block) order.push_back(tile_of_block(config, block, tiles));
    return order;
}

/// Pixels of one drawn order.
struct Frame {
    std::int64_t rows = 0, columns = 0;  // of tiles drawn: the upper left ones
    int tile = 0;
};

Frame frame_of(const KernelRasterization& r) {
    Frame frame{std::min(r.tiles.m, kMostTiles), std::min(r.tiles.n, kMostTiles), 0};
    const auto longest = static_cast<int>(std::max<std::int64_t>({frame.rows, frame.columns, 1}));
    frame.tile = std::min(kLargestTile, kLongestSide / longest);
    return frame;
}

bool is_drawn(const Frame& frame, TileIndex tile) { return tile.m < frame.rows && tile.n < frame.columns; }

std::string classes_of(std::int64_t wave) {
    return wave == 0 ? "p c16" : "p " + color_class(static_cast<int>(wave % 2 == 0 ? 4 : 5));
}

void draw_tile(Svg& svg, const KernelRasterization& r, const Frame& frame, std::int64_t block, TileIndex tile) {
    const std::int64_t wave = block / r.first_wave;
    const Hint hint{fmt::format("block {} → tile ({}, {})\nwave {}", block, tile.m, tile.n, wave),
                    fmt::format("wave {}", wave)};
    svg.box({kLeft + static_cast<int>(tile.n) * frame.tile, kTop + static_cast<int>(tile.m) * frame.tile, frame.tile,
             frame.tile},
            classes_of(wave), hint, frame.tile >= kTileWithText ? std::to_string(block) : "");
}

/// Through the middles of the first wave's tiles, as far as they are drawn.
std::string wave_path(const KernelRasterization& r, const Frame& frame, const std::vector<TileIndex>& order) {
    std::string points;
    const auto count = std::min(static_cast<std::size_t>(r.first_wave), order.size());
    for (std::size_t block = 0; block < count; ++block) {
        const TileIndex tile = order[block];
        if (!is_drawn(frame, tile)) break;
        points += fmt::format("{},{} ", kLeft + static_cast<int>(tile.n) * frame.tile + frame.tile / 2,
                              kTop + static_cast<int>(tile.m) * frame.tile + frame.tile / 2);
    }
    return points;
}

std::string order_figure(const KernelRasterization& r, const std::vector<TileIndex>& order,
                         const std::string& caption) {
    const Frame frame = frame_of(r);
    Svg svg(kLeft + static_cast<int>(frame.columns) * frame.tile + 2,
            kTop + static_cast<int>(frame.rows) * frame.tile + 2);
    svg.text(kLeft, 12, "n, tiles →", "q");
    svg.text(0, kTop + 12, "m", "q");
    for (std::size_t block = 0; block < order.size(); ++block) {
        if (is_drawn(frame, order[block])) draw_tile(svg, r, frame, static_cast<std::int64_t>(block), order[block]);
    }
    svg.path(wave_path(r, frame, order), "w");
    return svg.figure(caption, true);
}

std::string caption_of(const std::string& order, const WaveFootprint& footprint) {
    return fmt::format("{}: {} in the first wave (A {}, B {})", order, megabytes(footprint.total()),
                       megabytes(footprint.a_bytes), megabytes(footprint.b_bytes));
}

}  // namespace

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6); }

WaveFootprint wave_footprint(const GemmSpec& spec, const MmaMultistageConfig& config, std::int64_t count) {
    const TileIndex tiles = tiles_of(config, spec.m, spec.n);
    std::set<std::pair<std::int64_t, std::int64_t>> rows;  // (split, tile) whose part of A, or B, is read
    std::set<std::pair<std::int64_t, std::int64_t>> columns;
    for (std::int64_t block = 0; block < count; ++block) {
        const std::int64_t split = block / (tiles.m * tiles.n);
        const TileIndex tile = tile_of_block(config, block % (tiles.m * tiles.n), tiles);
        rows.insert({split, tile.m});
        columns.insert({split, tile.n});
    }
    const auto k_extent = [&](std::int64_t split) {
        const KRange range = k_range_of_split(config, static_cast<int>(split), spec.k);
        return range.end - range.first;
    };
    WaveFootprint footprint;
    for (const auto& [split, tile] : rows)
        footprint.a_bytes += cut_extent(tile, config.block.m, spec.m) * k_extent(split) * bytes(spec.a);
    for (const auto& [split, tile] : columns)
        footprint.b_bytes += cut_extent(tile, config.block.n, spec.n) * k_extent(split) * bytes(spec.b);
    return footprint;
}

KernelRasterization kernel_rasterization(const GemmSpec& spec, const MmaMultistageConfig& config, const GpuModel& gpu,
                                         int blocks_per_sm) {
    KernelRasterization r;
    r.order = order_text(config);
    r.tiles = tiles_of(config, spec.m, spec.n);
    r.splits = config.split_k;
    r.blocks = r.tiles.m * r.tiles.n * r.splits;
    r.sm_count = gpu.sm_count;
    r.blocks_per_sm = blocks_per_sm;
    r.l2_bytes = gpu.l2_bytes;
    r.first_wave = std::min<std::int64_t>(r.blocks, std::int64_t{gpu.sm_count} * blocks_per_sm);
    r.footprint = wave_footprint(spec, config, r.first_wave);
    r.row_major = wave_footprint(spec, in_row_order(config), r.first_wave);
    r.tile_of = order_of(config, r.tiles);
    r.row_major_of = order_of(in_row_order(config), r.tiles);
    return r;
}

std::string rasterization_html(const KernelRasterization& r) {
    if (r.first_wave == 0) return "<p>No block: there is nothing to compute.</p>\n";
    return "<div class=\"side\">" + order_figure(r, r.tile_of, caption_of("This kernel, " + r.order, r.footprint)) +
           order_figure(r, r.row_major_of, caption_of("Row by row", r.row_major)) + "</div>\n";
}

}  // namespace jitgemm
