#include "generator/layout/predication.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"
#include "runtime/cli/layout/tiling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace jitgemm::cli {
namespace {

struct PredicateOptions {
    std::string extent;
    std::string tile;
    LayoutFormat format;
};

std::int64_t product_of(const std::vector<std::int64_t>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{1}, std::multiplies<>());
}

/// Tiles as cells: the first axis down, the last across; the data of one axis runs across.
Picture drawn(const Predication& predication, const std::vector<std::int64_t>& tile) {
    require_drawable(static_cast<std::int64_t>(predication.counts.size()));
    const std::int64_t whole = product_of(tile);
    const std::int64_t columns = predication.grid.back();
    const auto cells = static_cast<std::int64_t>(predication.counts.size());
    Grid grid{.title = "elements in range of every tile",
              .row_axis = cells > columns ? "tile" : "",
              .column_axis = "tile",
              .rows = static_cast<int>(cells / columns),
              .columns = static_cast<int>(columns)};
    for (const std::int64_t count : predication.counts) {
        grid.cells.push_back(
            {{std::to_string(count)}, count == whole ? 2 : 1, fmt::format("{} of {} elements exist", count, whole)});
    }
    return {.title = "predication", .grids = {std::move(grid)}, .notes = {}};
}

int predicate_tiles(const PredicateOptions& options, Output& output) {
    const std::vector<std::int64_t> extents = parse_numbers("--extent", options.extent);
    const std::vector<std::int64_t> tile = parse_numbers("--tile", options.tile, extents.size());
    const Predication predication = predicate(extents, tile);
    const std::int64_t tiles = product_of(predication.grid), whole = product_of(tile);
    const auto full = std::count(predication.counts.begin(), predication.counts.end(), whole);

    LayoutAnswer answer;
    answer.text = fmt::format(
        "{} in tiles of {}: {} tiles ({}), {} of them whole\n{} elements in bounds, {} out of bounds ({:.1f} % of the "
        "work)\n",
        fmt::join(extents, "x"), fmt::join(tile, "x"), tiles, fmt::join(predication.grid, "x"), full,
        predication.in_bounds, predication.out_of_bounds,
        100.0 * static_cast<double>(predication.out_of_bounds) / static_cast<double>(tiles * whole));
    answer.document = {{"extent", extents},
                       {"tile", tile},
                       {"grid", predication.grid},
                       {"counts", predication.counts},
                       {"in_bounds", predication.in_bounds},
                       {"out_of_bounds", predication.out_of_bounds}};
    const std::string format = chosen_format(options.format, output);
    if (format == "text" ? tiles <= kMostCells : format != "json") answer.picture = drawn(predication, tile);
    return show(answer, options.format, output);
}

}  // namespace

Action declare_layout_predicate(CLI::App& app) {
    auto options = std::make_shared<PredicateOptions>();
    app.add_option("--extent", options->extent, "Extents of the data, for example 41,55")->required();
    app.add_option("--tile", options->tile, "Extents of a tile, for example 4,8")->required();
    declare_format(app, options->format);
    return [options](Output& output) { return predicate_tiles(*options, output); };
}

}  // namespace jitgemm::cli
