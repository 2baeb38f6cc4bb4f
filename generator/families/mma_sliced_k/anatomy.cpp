#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/mma_sliced_k/geometry.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/layout/mma_atom.hpp"

#include <fmt/format.h>

#include <utility>

namespace jitgemm {
namespace {

using Config = MmaSlicedKConfig;

constexpr int kMatricesAtOnce = 4;

/// Of the long operand an ldmatrix x4 takes 16 rows of a k-block, of the few rows 8 of two.
LdmatrixChoice loads_of_long(const SlicedKGeometry& g, const Config& c) {
    const int instructions = c.block.m / g.mma.m;
    return {kMatricesAtOnce, !g.of_long.k_major, kMatricesAtOnce * instructions, instructions};
}

LdmatrixChoice loads_of_few(const SlicedKGeometry& g, const Config& c) {
    const int instructions = c.block.n / g.mma.n;
    return {kMatricesAtOnce, !g.of_few.k_major, kMatricesAtOnce * instructions, instructions, 2};
}

OperandPath path_of(Operand operand, const SlicedPanel& panel, const LdmatrixChoice& loads) {
    OperandPath path;
    path.operand = operand;
    path.k_major = panel.k_major;
    path.copy = fmt::format("TMA, boxes of {}x{} elements", panel.box[0], panel.box[1]);
    path.place = fmt::format("lines of {} bytes, swizzled over {} bytes, in the ring of the warp that reads them",
                             panel.line_bytes, panel.line_bytes);
    path.ldmatrix = loads;
    path.width_reason = "an ldmatrix x4 loads what two mma.sync take of the few rows, or one of the long operand";
    path.trans_reason = panel.k_major ? "K is contiguous in shared memory"
                                      : "the operand's rows are contiguous in shared memory: ldmatrix transposes";
    return path;
}

}  // namespace

KernelAnatomy MmaSlicedK::anatomy(const Problem& problem, const Config& c) {
    const GemmSpec& spec = problem.row_major();
    const SlicedKGeometry g = geometry(problem.signature, c);
    const MmaAtom& atom = *find_mma_atom(g.mma, spec.a, spec.b, spec.accumulator);
    KernelAnatomy anatomy =
        anatomy_of(g, c.block, {c.block.m, c.block.n, g.panel_k}, g.mma, std::string(atom.ptx_name));
    anatomy.stages = c.stages;
    anatomy.stage_bytes = g.stage_bytes * g.warps;
    anatomy.pipeline_bytes = g.pipeline_bytes;
    anatomy.epilogue_bytes = g.sums_bytes;
    OperandPath of_long = path_of(c.swap_ab ? Operand::b : Operand::a, g.of_long, loads_of_long(g, c));
    OperandPath of_few = path_of(c.swap_ab ? Operand::a : Operand::b, g.of_few, loads_of_few(g, c));
    anatomy.operands = {std::move(of_long), std::move(of_few)};
    if (c.swap_ab) std::swap(anatomy.operands[0], anatomy.operands[1]);
    if (c.swap_ab) turn_tiles(anatomy);
    return anatomy;
}

ElementOwner MmaSlicedK::owner(const Problem& problem, const Config& c, std::int64_t row, std::int64_t column) {
    const GemmSpec& spec = problem.row_major();
    const std::int64_t of_long = c.swap_ab ? column : row;
    const std::int64_t of_few = c.swap_ab ? row : column;
    ElementOwner owner;
    owner.tile_m = of_long / c.block.m;
    owner.tile_n = of_few / c.block.n;
    owner.block = owner.tile_m;
    if (c.swap_ab) std::swap(owner.tile_m, owner.tile_n);
    const int in_tile_m = static_cast<int>(of_long % c.block.m);
    const int in_tile_n = static_cast<int>(of_few % c.block.n);
    const TileShape mma = sliced_mma(spec.a);
    const MmaAtom& atom = *find_mma_atom(mma, spec.a, spec.b, spec.accumulator);
    const ThreadValue held = owner_of(atom.layout_c, {in_tile_m % mma.m, in_tile_n % mma.n});
    owner.lane = held.thread;
    const int registers = atom.registers(Operand::c);
    const int index = in_tile_m / mma.m * (c.block.n / mma.n) + in_tile_n / mma.n;
    owner.accumulator_register = index * registers + held.value / (atom.layout_c.values() / registers);
    return owner;
}

}  // namespace jitgemm
