#include "generator/families/simt_long_k/accesses.hpp"
#include "generator/families/simt_long_k/family.hpp"
#include "generator/families/simt_long_k/geometry.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

constexpr int kLongKFloat = 4;  // bytes

OperandPath long_k_path(Operand name, const SimtLongKOperand& operand) {
    OperandPath path;
    path.operand = name;
    path.k_major = operand.k_major;
    path.copy = fmt::format("cp.async of {} bytes", operand.vector * kLongKFloat);
    path.place = fmt::format("rows of {}, {} floats apart, so that the lanes that read at once meet different banks",
                             operand.k_major ? fmt::format("{} k", operand.columns)
                                             : fmt::format("the {} elements of one k", operand.columns),
                             operand.pitch);
    path.width_reason = operand.k_major
                            ? "fragments by ld.shared of 16 bytes: four neighbouring k"
                            : fmt::format("fragments by ld.shared of {} bytes: a thread's neighbours along M or N",
                                          operand.piece * kLongKFloat);
    path.trans_reason = "a tile lies in shared memory as in global memory";
    return path;
}

}  // namespace

KernelAnatomy SimtLongK::anatomy(const Problem& problem, const SimtLongKConfig& c) {
    const SimtLongKGeometry g = geometry(problem.signature, c);
    const TileShape warp{c.block().m, c.block().n, c.warps > 0 ? c.block_k / c.warps : 0};
    KernelAnatomy anatomy = anatomy_of(g, c.block(), warp, {c.thread.m, c.thread.n, 1}, "fma.rn.f32");
    anatomy.stages = c.stages;
    anatomy.split_k = c.split_k;
    anatomy.stage_bytes = std::int64_t{g.a.stage_floats + g.b.stage_floats} * kLongKFloat;
    anatomy.pipeline_bytes = g.pipeline_bytes;
    anatomy.epilogue_bytes = g.sums_bytes;
    anatomy.operands = {long_k_path(Operand::a, g.a), long_k_path(Operand::b, g.b)};
    anatomy.accesses = long_k_accesses(c, g);
    return anatomy;
}

std::vector<std::string> SimtLongK::discouraged(const Problem&, const SimtLongKConfig&) {
    return {};  // which bank conflicts pay is the cost model's business: with little arithmetic, they cost nothing
}

ElementOwner SimtLongK::owner(const Problem& problem, const SimtLongKConfig& c, std::int64_t row, std::int64_t column) {
    const SimtLongKGeometry g = geometry(problem.signature, c);
    ElementOwner owner;
    owner.tile_m = row / c.block().m;
    owner.tile_n = column / c.block().n;
    owner.block = owner.tile_m * ((problem.row_major().n + c.block().n - 1) / c.block().n) + owner.tile_n;
    const LongKElement along_m = long_k_element(g.a, static_cast<int>(row % c.block().m));
    const LongKElement along_n = long_k_element(g.b, static_cast<int>(column % c.block().n));
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        const LongKLane place = long_k_lane(c, lane);
        if (place.m == along_m.lane && place.n == along_n.lane && place.k == 0) owner.lane = lane;
    }
    owner.accumulator_register = along_m.element * c.thread.n + along_n.element;
    return owner;
}

}  // namespace jitgemm
