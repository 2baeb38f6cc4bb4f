#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/mma_sliced_k/geometry.hpp"
#include "generator/layout/mma_atom.hpp"

#include <fmt/format.h>

#include <utility>

namespace jitgemm {
namespace {

using Config = MmaSlicedKConfig;

OperandPath path_of(Operand operand, const SlicedPanel& panel) {
    OperandPath path;
    path.operand = operand;
    path.k_major = panel.k_major;
    path.copy = fmt::format("TMA, boxes of {}x{} elements", panel.box[0], panel.box[1]);
    path.place = fmt::format("lines of {} bytes, swizzled over {} bytes, in the ring of the warp that reads them",
                             panel.line_bytes, panel.line_bytes);
    path.ldmatrix = LdmatrixChoice{.x = 4, .trans = !panel.k_major};
    path.width_reason = "an ldmatrix x4 loads what two mma.sync take of the few rows, or one of the long operand";
    path.trans_reason = panel.k_major ? "K is contiguous in shared memory"
                                      : "the operand's rows are contiguous in shared memory: ldmatrix transposes";
    return path;
}

}  // namespace

KernelAnatomy MmaSlicedK::anatomy(const GemmSpec& spec, const Config& c) {
    const GemmSignature asked = signature(spec);
    const SlicedKGeometry g = geometry(asked, c);
    const MmaAtom& atom = *find_mma_atom(kSlicedMma, spec.a, spec.b, spec.accumulator);
    KernelAnatomy anatomy =
        anatomy_of(g, c.block, {c.block.m, c.block.n, kSlicedPanelK}, kSlicedMma, std::string(atom.ptx_name));
    anatomy.stages = c.stages;
    anatomy.stage_bytes = g.stage_bytes * c.warps();
    anatomy.pipeline_bytes = g.pipeline_bytes;
    anatomy.epilogue_bytes = g.sums_bytes;
    anatomy.operands = {path_of(Operand::a, c.swap_ab ? g.of_few : g.of_long),
                        path_of(Operand::b, c.swap_ab ? g.of_long : g.of_few)};
    if (c.swap_ab)
        for (TileShape* tile : {&anatomy.block, &anatomy.warp, &anatomy.mma}) std::swap(tile->m, tile->n);
    return anatomy;
}

ElementOwner MmaSlicedK::owner(const GemmSpec& spec, const Config& c, std::int64_t row, std::int64_t column) {
    const std::int64_t of_long = c.swap_ab ? column : row;
    const std::int64_t of_few = c.swap_ab ? row : column;
    ElementOwner owner;
    owner.tile_m = of_long / c.block.m;
    owner.tile_n = of_few / c.block.n;
    owner.block = owner.tile_m;
    if (c.swap_ab) std::swap(owner.tile_m, owner.tile_n);
    const int in_tile_m = static_cast<int>(of_long % c.block.m);
    const int in_tile_n = static_cast<int>(of_few % c.block.n);
    const MmaAtom& atom = *find_mma_atom(kSlicedMma, spec.a, spec.b, spec.accumulator);
    const ThreadValue held = owner_of(atom.layout_c, {in_tile_m % kSlicedMma.m, in_tile_n % kSlicedMma.n});
    owner.lane = held.thread;
    const int registers = atom.registers(Operand::c);
    const int index = in_tile_m / kSlicedMma.m * (c.block.n / kSlicedMma.n) + in_tile_n / kSlicedMma.n;
    owner.accumulator_register = index * registers + held.value / (atom.layout_c.values() / registers);
    return owner;
}

}  // namespace jitgemm
