#include "generator/base/grid_rule.hpp"

#include "generator/base/overloaded.hpp"
#include "generator/base/round_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::int64_t kMostBlocks = std::int64_t{1} << 62;

std::int64_t product(std::int64_t count, std::int64_t times) {
    return count != 0 && times > kMostBlocks / count ? kMostBlocks : count * times;
}

std::int64_t persistent_count(const PersistentBlocks& rule, std::int64_t tiles, int sm_count) {
    const std::int64_t clusters = ceil_div<std::int64_t>(tiles, rule.cluster);
    const std::int64_t at_once = std::max<std::int64_t>(std::int64_t{sm_count} * rule.per_sm / rule.cluster, 1);
    return (sm_count == 0 ? clusters : std::min(clusters, at_once)) * rule.cluster;
}

/// Of (rows, columns), `splits` times.
std::int64_t tile_count(const GridRule& rule, std::int64_t rows, std::int64_t columns) {
    return product(product(ceil_div<std::int64_t>(rows, rule.tile_m), ceil_div<std::int64_t>(columns, rule.tile_n)),
                   rule.splits);
}

/// The number of blocks for this number of tiles.
std::int64_t blocks_of(const GridRule& rule, std::int64_t tiles, int sm_count) {
    return std::visit(
        Overloaded{[&](BlockPerTile) { return tiles; },
                   [&](CappedBlocks capped) { return std::min(tiles, capped.most); },
                   [&](PersistentBlocks persistent) { return persistent_count(persistent, tiles, sm_count); },
                   [&](RemainderBlocks remainder) { return tiles + tiles % remainder.per_wave; }},
        rule.blocks);
}

/// Rows to add to m for the tiles in which groups end. Each group may end with a tile of one row. A grid for groups
/// has m / tile_m tiles and one more for each group (templates/scheduler/group_tiles.cuh).
std::int64_t rows_of_cut_tiles(const GridRule& rule, const GemmSpec& spec) {
    if (rule.batch == GridBatch::groups) return spec.groups * rule.tile_m - spec.m % rule.tile_m;
    const bool is_cut = is_grouped(spec) && rule.batch == GridBatch::tiles;
    return is_cut ? std::min(spec.groups, spec.m) * (rule.tile_m - 1) : 0;
}

}  // namespace

std::string_view to_string(GridMatrix matrix) {
    constexpr std::array<std::string_view, 8> kNames{"a", "b", "d", "ab", "d_quads", "lines", "lines_a", "lines_b"};
    return kNames.at(static_cast<std::size_t>(matrix));
}

std::int64_t block_count(const GridRule& rule, std::int64_t rows, std::int64_t columns, int sm_count) {
    return blocks_of(rule, tile_count(rule, rows, columns), sm_count);
}

std::int64_t block_count(const GridRule& rule, const GemmSpec& spec, int sm_count) {
    const auto [m, n, k] = std::array{spec.m + rows_of_cut_tiles(rule, spec), spec.n, spec.k};
    const auto tiles = [&] {
        switch (rule.matrix) {
            case GridMatrix::a: return tile_count(rule, m, k);
            case GridMatrix::b: return tile_count(rule, n, k);
            case GridMatrix::ab: return std::min(tile_count(rule, m, k) + tile_count(rule, n, k), kMostBlocks);
            case GridMatrix::lines: return tile_count(rule, m, 1) + tile_count(rule, n, 1);
            case GridMatrix::lines_a: return tile_count(rule, m, 1);
            case GridMatrix::lines_b: return tile_count(rule, n, 1);
            case GridMatrix::d_quads: return tile_count(rule, 1, product(m, round_up<std::int64_t>(n, 4)));
            default: return tile_count(rule, m, n);
        }
    };
    return blocks_of(rule, rule.batch == GridBatch::tiles ? product(tiles(), spec.batch) : tiles(), sm_count);
}

std::int64_t blocks_of_batch(GridRule rule, const GemmSpec& spec) {
    if (rule.batch == GridBatch::groups && is_grouped(spec)) return block_count(rule, spec);
    if (rule.batch == GridBatch::blocks) return product(block_count(rule, spec), spec.batch);
    rule.batch = GridBatch::tiles;
    return block_count(rule, spec);
}

ProblemGrid problem_grid(const GridRule& rule, const GemmSpec& spec) {
    if (rule.batch != GridBatch::blocks) return {};
    return {static_cast<std::int32_t>(std::clamp<std::int64_t>(spec.batch, 1, kMostAlongY)),
            static_cast<std::int32_t>(ceil_div<std::int64_t>(spec.batch, kMostAlongY))};
}

bool needs_sm_count(const GridRule& rule) { return std::holds_alternative<PersistentBlocks>(rule.blocks); }

std::string block_count_expression(const GridRule& rule, const SizeExpressions& sizes) {
    const auto tiles_along = [&](std::string_view rows, std::string_view columns) {
        return fmt::format("tiles({}, {}) * tiles({}, {}) * {}", rows, rule.tile_m, columns, rule.tile_n, rule.splits);
    };
    const auto& [m, n, k, problems] = sizes;
    std::string tiles;
    switch (rule.matrix) {
        case GridMatrix::a: tiles = tiles_along(m, k); break;
        case GridMatrix::b: tiles = tiles_along(n, k); break;
        case GridMatrix::d: tiles = tiles_along(m, n); break;
        case GridMatrix::ab: tiles = fmt::format("({} + {})", tiles_along(m, k), tiles_along(n, k)); break;
        case GridMatrix::lines: tiles = fmt::format("({} + {})", tiles_along(m, "1"), tiles_along(n, "1")); break;
        case GridMatrix::lines_a: tiles = tiles_along(m, "1"); break;
        case GridMatrix::lines_b: tiles = tiles_along(n, "1"); break;
        case GridMatrix::d_quads:
            tiles = fmt::format("tiles({} * tiles({}, 4) * 4, {}) * {}", m, n, rule.tile_n, rule.splits);
            break;
    }
    if (rule.batch == GridBatch::tiles && !problems.empty()) tiles += " * " + problems;
    return std::visit(
        Overloaded{
            [&](BlockPerTile) { return std::move(tiles); },
            [&](CappedBlocks capped) { return fmt::format("least({}, {})", tiles, capped.most); },
            [&](PersistentBlocks persistent) {
                return fmt::format("least(tiles({0}, {2}), greatest(sm_count({2}) * {1} / {2}, 1)) * {2}", tiles,
                                   persistent.per_sm, persistent.cluster);
            },
            [&](RemainderBlocks remainder) { return fmt::format("{0} + {0} % {1}", tiles, remainder.per_wave); }},
        rule.blocks);
}

}  // namespace jitgemm
