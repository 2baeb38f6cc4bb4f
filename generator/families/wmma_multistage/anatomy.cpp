#include "generator/families/wmma_multistage/family.hpp"

#include "generator/families/mma_multistage/shared_accesses.hpp"
#include "generator/families/wmma_multistage/geometry.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

std::string copy_text(const OperandGeometry& g, const WmmaMultistageConfig& c) {
    if (g.async) {
        const bool through_l1 = g.vector_bytes < 16 || c.cache == CopyCache::ca;
        return fmt::format("cp.async.{} of {} bytes{}", through_l1 ? "ca" : "cg", g.vector_bytes,
                           c.l2_prefetch == 0 ? "" : fmt::format(", L2 fetches {}", c.l2_prefetch));
    }
    if (g.shifted)
        return fmt::format("aligned loads, shifted in registers, then st.shared of {} bytes", g.vector_bytes);
    return fmt::format("ld.global, then st.shared of {} bytes", g.vector_bytes);
}

std::string place_text(const OperandGeometry& g) {
    const int padding = g.pitch_bytes - g.row_bytes;
    if (padding == 0) return fmt::format("rows of {} bytes, one right behind the other", g.row_bytes);
    return fmt::format("rows of {} bytes, each padded by {} to shift its banks", g.row_bytes, padding);
}

OperandPath path_of(Operand operand, const OperandGeometry& g, const WmmaMultistageConfig& c) {
    const bool is_a = operand == Operand::a;
    OperandPath path;
    path.operand = operand;
    path.k_major = g.k_major;
    path.copy = copy_text(g, c);
    path.place = place_text(g);
    path.width_reason = fmt::format("a wmma.load takes a fragment of {}x{} ({} x k)", is_a ? c.mma.m : c.mma.n, c.mma.k,
                                    is_a ? 'm' : 'n');
    path.trans_reason = g.k_major
                            ? "K is contiguous in shared memory"
                            : fmt::format("{} is contiguous in shared memory, as the load is told", is_a ? 'M' : 'N');
    return path;
}

/// All 8x8 matrices of a fragment lie alike: they begin at multiples of 16 bytes and of eight rows.
SharedAccess fragment_load(Operand operand, const OperandGeometry& g, int fragment_elements, int fragments) {
    constexpr int kRows = 8;
    constexpr int kMatrixElements = 64;
    SharedAccess access;
    access.what = fmt::format("wmma.load {}", to_string(operand));
    access.instruction = "wmma.load, as ldmatrix";
    const LaneAddresses rows = lane_addresses([&](int lane) { return lane % kRows * g.pitch_bytes; });
    add_instruction(access, matrix_wavefronts(1, rows), fragments * fragment_elements / kMatrixElements);
    if (access.wavefronts > access.ideal)
        access.reason = fmt::format("eight rows {} bytes apart: several begin in the same bank", g.pitch_bytes);
    return access;
}

/// A k-tile's accesses. The ISA does not describe them: each wmma.load becomes ldmatrix of 8x8 matrices, whose
/// rows of 16 bytes lie a row of the tile apart (docs/families.md).
std::vector<SharedAccess> fragment_loads(const WmmaMultistageConfig& c, const TensorCoreGeometry& g) {
    const int warp_steps = g.threads / kWarpLanes * (c.block.k / c.mma.k);
    return {fragment_load(Operand::a, g.a, c.mma.m * c.mma.k, warp_steps * (c.warp.m / c.mma.m)),
            fragment_load(Operand::b, g.b, c.mma.n * c.mma.k, warp_steps * (c.warp.n / c.mma.n))};
}

}  // namespace

// Accesses are those that the ISA specifies: copies into the pipeline and what the epilogue reads back.
KernelAnatomy WmmaMultistage::anatomy(const Problem& problem, const WmmaMultistageConfig& c) {
    const TensorCoreGeometry g = geometry(problem.signature, c);
    KernelAnatomy anatomy = anatomy_of(g, c.block, c.warp, c.mma,
                                       fmt::format("wmma.mma.sync.aligned.m{}n{}k{}", c.mma.m, c.mma.n, c.mma.k));
    anatomy.stages = c.stages;
    anatomy.raster_group = c.group;
    anatomy.stage_bytes = g.a.stage_bytes + g.b.stage_bytes;
    anatomy.pipeline_bytes = g.pipeline_bytes;
    anatomy.epilogue_bytes = g.epilogue_bytes;
    anatomy.operands = {path_of(Operand::a, g.a, c), path_of(Operand::b, g.b, c)};
    anatomy.accesses = {copy_access(Operand::a, g.a, SharedLayout::padding, g.threads),
                        copy_access(Operand::b, g.b, SharedLayout::padding, g.threads),
                        epilogue_load(c.warp, c.mma, g)};
    anatomy.assumed_accesses = fragment_loads(c, g);
    return anatomy;
}

}  // namespace jitgemm
