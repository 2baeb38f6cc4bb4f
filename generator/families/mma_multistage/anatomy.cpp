#include "generator/families/mma_multistage/family.hpp"

#include "generator/base/packed_operand.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/mma_multistage/shared_accesses.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

/// The properties in which A and B differ on their way to the tensor cores.
struct OperandView {
    Operand operand;
    const OperandGeometry& geometry;
    int ldmatrix;
    int rows;  ///< of the warp tile: M or N
    char row_letter;
    std::string_view from;  ///< a copy, if there is one
};

std::string copy_text(const OperandView& view) {
    const int bytes = view.geometry.vector_bytes;
    if (!view.geometry.async)
        return fmt::format("aligned loads, shifted in registers, then st.shared of {} bytes", bytes);
    return fmt::format("cp.async of {} bytes{}", bytes, view.from);
}

std::string swizzle_text(const OperandGeometry& operand) {
    const int row_bytes = operand.row_bytes;
    const int span = swizzle_span(row_bytes);
    if (loads_words(operand))
        return fmt::format(
            "rows of {} bytes, their pairs of 16-byte chunks XORed within {} bytes, so that 4 rows meet 4 "
            "groups of banks",
            row_bytes, span);
    if (span == kChunkBytes)
        return fmt::format("rows of {} bytes, which fill the banks in turn without a swizzle", span);
    return fmt::format(
        "rows of {} bytes, their 16-byte chunks XORed within {} bytes, so that 8 rows meet 8 groups of banks",
        row_bytes, span);
}

std::string place_text(const OperandView& view, SharedLayout layout) {
    const OperandGeometry& g = view.geometry;
    if (layout == SharedLayout::swizzle) return swizzle_text(g);
    return fmt::format("rows of {} bytes, each padded by {} to shift its banks", g.row_bytes, kChunkBytes);
}

std::string width_reason(const OperandView& view, const MmaMultistageConfig& c, const LdmatrixChoice& choice) {
    const int widest = widest_ldmatrix(choice.matrices);
    std::string text = fmt::format("the warp's {}x{} ({} x k) are {} matrices of 8x8", view.rows, c.mma.k,
                                   view.row_letter, choice.matrices);
    if (choice.x < widest) return text + fmt::format("; x{} would load them in fewer instructions", widest);
    return text + (widest == 4
                       ? ", four per instruction"
                       : fmt::format(", too few for x{}: x{} is the widest that divides them", 2 * widest, widest));
}

std::string trans_reason(const OperandView& view) {
    if (view.geometry.k_major) return "K is contiguous in shared memory, as the fragments want it";
    if (loads_words(view.geometry))
        return fmt::format("{} is contiguous in shared memory, and ldmatrix transposes no elements of 32 bits",
                           view.row_letter == 'm' ? 'M' : 'N');
    return fmt::format("{} is contiguous in shared memory, so each matrix is transposed on its way",
                       view.row_letter == 'm' ? 'M' : 'N');
}

OperandPath path_of(const OperandView& view, const MmaMultistageConfig& c, const TensorCoreGeometry& g) {
    OperandPath path;
    path.operand = view.operand;
    path.k_major = view.geometry.k_major;
    path.copy = copy_text(view);
    path.place = place_text(view, c.shared_layout);
    if (loads_words(view.geometry)) {
        path.width_reason =
            "ld.shared of 4 bytes: lanes read 4 rows of K of 8 neighbours, and these fill the banks once";
        path.trans_reason = trans_reason(view);
        return path;
    }
    const int matrices = matrices_8x8(view.operand, c.mma, {g.tiles_m, g.tiles_n, 1}, 8 * view.geometry.element_bytes);
    path.ldmatrix = LdmatrixChoice{view.ldmatrix, !path.k_major, matrices, matrices / view.ldmatrix};
    path.width_reason = width_reason(view, c, *path.ldmatrix);
    path.trans_reason = trans_reason(view);
    return path;
}

std::string_view copy_of(bool is_packed, bool is_transposed) {
    if (!is_packed) return "";
    return is_transposed ? " from the transposed copy in the workspace" : " from the packed copy in the workspace";
}

}  // namespace

KernelAnatomy MmaMultistage::anatomy(const Problem& problem, const MmaMultistageConfig& c) {
    const GemmSpec& spec = problem.row_major();
    const TensorCoreGeometry g = geometry(problem.signature, c);
    const OperandView a{Operand::a, g.a, c.ldmatrix_a, c.warp.m, 'm', copy_of(packs_a(c.pack), transposes_a(spec))};
    const OperandView b{Operand::b, g.b, c.ldmatrix_b, c.warp.n, 'n', copy_of(packs_b(c.pack), transposes_b(spec))};
    const MmaAtom* atom = atom_of(spec, c);
    KernelAnatomy anatomy = anatomy_of(g, c.block, c.warp, c.mma, atom->ptx_name);
    anatomy.stages = c.stages;
    anatomy.split_k = c.split_k;
    anatomy.cluster = c.splits_in_cluster() ? c.split_k : 1;
    anatomy.raster_group = c.group;
    if (!loads_words(g.a) && !loads_words(g.b)) anatomy.ldmatrix_pipeline = {atom, g.a, g.b, c.shared_layout, c};
    anatomy.packs_a = packs_a(c.pack);
    anatomy.packs_b = packs_b(c.pack);
    anatomy.stage_bytes = g.a.stage_bytes + g.b.stage_bytes;
    anatomy.pipeline_bytes = g.pipeline_bytes;
    anatomy.epilogue_bytes = g.epilogue_bytes;
    anatomy.operands = {path_of(a, c, g), path_of(b, c, g)};
    anatomy.accesses = mma_multistage_shared_accesses(problem.signature, c);
    return anatomy;
}

}  // namespace jitgemm
