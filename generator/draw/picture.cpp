#include "generator/draw/picture.hpp"

#include "generator/layout/int_tuple.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace jitgemm {
namespace {

void check_grid(const Grid& grid) {
    const bool complete =
        grid.rows >= 0 && grid.columns >= 0 &&
        grid.cells.size() == static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns);
    if (complete) return;
    throw LayoutError(fmt::format("the grid '{}' of {} rows and {} columns has {} cells", grid.title, grid.rows,
                                  grid.columns, grid.cells.size()));
}

}  // namespace

void check_picture(const Picture& picture) {
    std::size_t cells = 0;
    for (const Grid& grid : picture.grids) {
        check_grid(grid);
        cells += grid.cells.size();
    }
    require_drawable(static_cast<std::int64_t>(cells));
}

void require_drawable(std::int64_t cells) {
    if (cells > kMostCells)
        throw LayoutError(fmt::format("the picture would have {} cells; at most {} are drawn", cells, kMostCells));
}

}  // namespace jitgemm
