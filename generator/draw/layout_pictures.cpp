#include "generator/draw/layout_pictures.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

constexpr int kLanes = 32;

struct Axes {
    std::string_view rows;
    std::string_view columns;
};

Axes axes_of(Operand operand) {
    if (operand == Operand::a) return {"m", "k"};
    return operand == Operand::b ? Axes{"n", "k"} : Axes{"m", "n"};
}

Grid empty_grid(std::string title, Axes axes, int rows, int columns) {
    if (std::int64_t{rows} * columns > kMostCells)
        throw LayoutError(
            fmt::format("{}: {}x{} cells are more than the {} of a picture", title, rows, columns, kMostCells));
    Grid grid{.title = std::move(title),
              .row_axis = std::string(axes.rows),
              .column_axis = std::string(axes.columns),
              .rows = rows,
              .columns = columns};
    grid.cells.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    return grid;
}

Cell& cell_at(Grid& grid, Coordinate at) {
    return grid.cells[static_cast<std::size_t>(at.row) * static_cast<std::size_t>(grid.columns) +
                      static_cast<std::size_t>(at.column)];
}

std::string element_text(Operand operand, Coordinate at) {
    return fmt::format("{}({}, {})", to_string(operand), at.row, at.column);
}

/// An operand in shared memory belongs to no thread in particular.
bool held_by_all(const TvLayout& tv) {
    return coalesce(tv.layout().mode(0)).stride() == IntTuple(0) && tv.threads() > 1;
}

Cell owned_cell(Operand operand, const TvLayout& tv, int thread, int value) {
    const std::string at = element_text(operand, tv.coordinate(thread, value));
    const std::string value_line = fmt::format("V{}", value);
    if (held_by_all(tv)) return {{"all", value_line}, -1, fmt::format("{}: every thread, value {}", at, value)};
    return {
        {fmt::format("T{}", thread), value_line}, thread, fmt::format("{}: thread {}, value {}", at, thread, value)};
}

Grid tv_grid(Operand operand, const TvLayout& tv) {
    Grid grid = empty_grid(fmt::format("{}: {}", to_string(operand), to_string(tv.layout())), axes_of(operand),
                           tv.rows(), tv.columns());
    for (int thread = 0; thread < (held_by_all(tv) ? 1 : tv.threads()); ++thread) {
        for (int value = 0; value < tv.values(); ++value) {
            Cell& cell = cell_at(grid, tv.coordinate(thread, value));
            if (cell.lines.empty())
                cell = owned_cell(operand, tv, thread, value);
            else
                cell.hint += fmt::format("; thread {}, value {}", thread, value);
        }
    }
    return grid;
}

/// The instruction and the register of an index into the warp's registers.
std::string register_text(int index, int x) { return fmt::format("I{}R{}", index / x, index % x); }

Grid register_grid(const TiledMma& mma, Operand operand, const LdmatrixPlan& plan, int x) {
    const TvLayout tv = mma.layout_tv(operand);
    Grid grid = empty_grid(fmt::format("{}: lane and register that each element of warp 0 goes to", to_string(operand)),
                           axes_of(operand), tv.rows(), tv.columns());
    const int each = tv.values() / static_cast<int>(plan.origins.size());
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int value = 0; value < tv.values(); ++value) {
            const Coordinate at = tv.coordinate(lane, value);
            const int index = value / each;
            cell_at(grid, at) = {{fmt::format("L{}", lane), register_text(index, x)},
                                 index,
                                 fmt::format("{}: lane {}, instruction {}, register {}, element {}",
                                             element_text(operand, at), lane, index / x, index % x, value % each)};
        }
    }
    return grid;
}

Grid address_grid(Operand operand, const LdmatrixPlan& plan, const LdmatrixOption& best) {
    const std::string title =
        fmt::format("first element of the row whose address a lane supplies ({})", best.atom->cute_name);
    Grid grid = empty_grid(title, {"instruction", "lane"}, best.instructions, kLanes);
    const int x = best.atom->x;
    for (int instruction = 0; instruction < best.instructions; ++instruction) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const Coordinate row = plan.lane_row(best, instruction, lane);
            const int index = instruction * x + lane / 8 % x;
            const bool repeats = lane >= 8 * x;
            cell_at(grid, {instruction, lane}) = {
                {fmt::format("{},{}", row.row, row.column)},
                repeats ? -1 : index,
                fmt::format("lane {}: row at {}{}", lane, element_text(operand, row),
                            repeats ? ", ignored by the hardware" : fmt::format(" of register {}", index % x))};
        }
    }
    return grid;
}

}  // namespace

Picture layout_picture(const ComposedLayout& layout) {
    require_drawable(layout.size());
    const Layout& inner = layout.layout();
    const std::int64_t rows = inner.rank() > 1 ? inner.size(0) : 1, columns = inner.size() / rows;
    const std::vector<std::int64_t> values = table(layout);
    Grid grid{.title = "",
              .row_axis = rows > 1 ? "mode 0" : "",
              .column_axis = rows > 1 ? "mode 1" : "index",
              .rows = static_cast<int>(rows),
              .columns = static_cast<int>(columns)};
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            const std::int64_t value = values[static_cast<std::size_t>(row + column * rows)];
            constexpr std::int64_t kHues = 8;
            grid.cells.push_back({{std::to_string(value)},
                                  static_cast<int>(((value % kHues) + kHues) % kHues),
                                  fmt::format("({},{}) is {}", row, column, value)});
        }
    }
    return {.title = to_string(layout), .grids = {std::move(grid)}, .notes = {}};
}

Picture mma_picture(const MmaAtom& atom) {
    Picture picture{.title = atom.name(), .grids = {}, .notes = {atom.ptx_name}};
    for (const Operand operand : {Operand::a, Operand::b, Operand::c})
        picture.grids.push_back(tv_grid(operand, atom.layout(operand)));
    return picture;
}

Picture tiled_mma_picture(const TiledMma& mma) {
    const auto [m, n, k] = mma.tile();
    Picture picture{.title = fmt::format("{} in {}x{}x{}", mma.atom().name(), m, n, k), .grids = {}, .notes = {}};
    for (const Operand operand : {Operand::a, Operand::b, Operand::c})
        picture.grids.push_back(tv_grid(operand, mma.layout_tv(operand)));
    picture.notes.emplace_back("An element that several threads hold shows the first; hovering names the others.");
    return picture;
}

Picture ldmatrix_picture(const TiledMma& mma, Operand operand, const LdmatrixPlan& plan) {
    const LdmatrixOption* best = plan.best();
    if (best == nullptr) throw LayoutError("no ldmatrix is legal: " + plan.options.front().reason);
    return {.title = fmt::format("{} of {}, {} x {}", to_string(operand), mma.atom().name(), best->instructions,
                                 best->atom->cute_name),
            .grids = {register_grid(mma, operand, plan, best->atom->x), address_grid(operand, plan, *best)},
            .notes = {best->reason}};
}

Picture copy_picture(const TiledCopy& copy, const Layout& data, int vector) {
    const auto rows = static_cast<int>(data.size(0)), columns = static_cast<int>(data.size(1));
    Grid grid =
        empty_grid(fmt::format("thread and instruction of every element, {} a pass", to_string(copy.layout_tv())),
                   {"row", "column"}, rows, columns);
    // Within an instruction values run along the contiguous mode.
    const bool by_row = data.size(1) > 1 && coalesce(data.mode(1)).stride() == IntTuple(1);
    for (int thread = 0; thread < copy.threads(); ++thread) {
        int instruction = 0;
        for (const CopyVector& first : copy_vectors(copy, data, vector, thread)) {
            for (int i = 0; i < vector; ++i) {
                const Coordinate at =
                    by_row ? Coordinate{first.row, first.column + i} : Coordinate{first.row + i, first.column};
                cell_at(grid, at) = {{fmt::format("T{}", thread), fmt::format("I{}", instruction)},
                                     thread,
                                     fmt::format("({}, {}): thread {}, instruction {}, element {}", at.row, at.column,
                                                 thread, instruction, i)};
            }
            ++instruction;
        }
    }
    return {.title = fmt::format("{}x{} by {} threads", rows, columns, copy.threads()), .grids = {std::move(grid)}};
}

}  // namespace jitgemm
