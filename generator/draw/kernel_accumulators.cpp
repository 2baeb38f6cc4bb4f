#include "generator/draw/kernel_accumulators.hpp"

#include "generator/draw/svg.hpp"
#include "generator/draw/svg_grid.hpp"
#include "generator/layout/mma_atom.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace jitgemm {
namespace {

std::string register_range(int first, int count) {
    return count == 1 ? fmt::format("r{}", first) : fmt::format("r{}–{}", first, first + count - 1);
}

Grid warp_tile_grid(const KernelAccumulators& accumulators) {
    Grid grid;
    grid.title = fmt::format("A warp tile, {}×{}: atoms and the registers they sum into", accumulators.warp.m,
                             accumulators.warp.n);
    grid.row_axis = "i";
    grid.column_axis = fmt::format("j, atoms of {}×{}", accumulators.mma.m, accumulators.mma.n);
    grid.rows = accumulators.warp.m / accumulators.mma.m;
    grid.columns = accumulators.warp.n / accumulators.mma.n;
    for (std::size_t atom = 0; atom < accumulators.first_register.size(); ++atom) {
        const int row = static_cast<int>(atom) / grid.columns;
        const int column = static_cast<int>(atom) % grid.columns;
        const std::string registers =
            register_range(accumulators.first_register[atom], accumulators.registers_per_atom);
        grid.cells.push_back(
            {{registers},
             row * 8 + column % 8,
             fmt::format("rC[{}][{}]: registers {} of every lane\nrows {}–{}, columns {}–{} of the warp tile", row,
                         column, registers, row * accumulators.mma.m, row * accumulators.mma.m + accumulators.mma.m - 1,
                         column * accumulators.mma.n, column * accumulators.mma.n + accumulators.mma.n - 1)});
    }
    return grid;
}

std::string grid_figure(const Grid& grid) {
    const Drawing drawing = draw_grid(grid, Hover::data);
    return figure(drawing.svg, drawing.width, drawing.height, "", false);
}

}  // namespace

KernelAccumulators kernel_accumulators(const Problem& problem, const KernelConfig& config,
                                       const KernelAnatomy& anatomy) {
    const MmaAtom& atom = *anatomy.ldmatrix_pipeline->atom;
    const auto owner_at = [&, owner = family_of(config).owner](int row, int column) {
        return owner(problem, config, row, column);
    };
    KernelAccumulators accumulators;
    accumulators.atom = atom.cute_name;
    accumulators.warp = anatomy.warp;
    accumulators.mma = anatomy.mma;
    accumulators.registers = anatomy.accumulator_registers;
    accumulators.registers_per_atom = atom.registers(Operand::c);
    for (int row = 0; row < anatomy.mma.m; ++row) {
        for (int column = 0; column < anatomy.mma.n; ++column) {
            const ElementOwner owner = owner_at(row, column);
            accumulators.atom_holders.push_back(
                {owner.lane, owner_of(atom.layout_c, {row, column}).value, owner.accumulator_register});
        }
    }
    for (int row = 0; row < anatomy.warp.m; row += anatomy.mma.m) {
        for (int column = 0; column < anatomy.warp.n; column += anatomy.mma.n)
            accumulators.first_register.push_back(owner_at(row, column).accumulator_register);
    }
    return accumulators;
}

Grid accumulator_grid(const KernelAccumulators& accumulators) {
    Grid grid;
    grid.title = fmt::format("One atom, {}×{}: lanes and values", accumulators.mma.m, accumulators.mma.n);
    grid.row_axis = "m";
    grid.column_axis = "n";
    grid.rows = accumulators.mma.m;
    grid.columns = accumulators.mma.n;
    for (std::size_t element = 0; element < accumulators.atom_holders.size(); ++element) {
        const auto& [lane, value, accumulator_register] = accumulators.atom_holders[element];
        const int row = static_cast<int>(element) / grid.columns;
        const int column = static_cast<int>(element) % grid.columns;
        grid.cells.push_back({{fmt::format("T{}", lane), fmt::format("V{}", value)},
                              lane,
                              fmt::format("lane {}, value {} (register {})\n({}, {}) of the atom", lane, value,
                                          accumulator_register, row, column)});
    }
    return grid;
}

std::string accumulators_html(const KernelAccumulators& accumulators) {
    return "<div class=\"side\">" + grid_figure(accumulator_grid(accumulators)) +
           grid_figure(warp_tile_grid(accumulators)) + "</div>\n";
}

}  // namespace jitgemm
