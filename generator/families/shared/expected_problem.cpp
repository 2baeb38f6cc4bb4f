#include "generator/families/shared/expected_problem.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/round_up.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

/// Scales of blocks lie as those of all groups, however few rows or problems there are.
EpilogueText with_layouts_of_scales(const GemmSpec& spec) {
    EpilogueText text = spec.epilogue;
    for (const GemmOperand& operand : gemm_operands(spec))
        if (operand.is_block_scale())
            text = text.with(operand.name, {.ld = operand.leading_dimension(),
                                            .align = operand.alignment,
                                            .batch_stride = text.layout_of(operand.name).batch_stride});
    return text;
}

/// The batch of a problem of groups.
GemmSpec as_batch(const Problem& problem) {
    GemmSpec spec = problem.row_major();
    if (has_block_scales(problem.signature)) spec.epilogue = with_layouts_of_scales(spec);
    const bool by_k = is_grouped_by_k(spec);
    std::int64_t& cut = by_k ? spec.k : spec.m;
    spec.batch = spec.expected_rows != 0 ? spec.groups : std::clamp<std::int64_t>(cut, 1, spec.groups);
    cut = spec.expected_rows != 0 ? spec.expected_rows : ceil_div(cut, spec.batch);
    cut = std::max<std::int64_t>(1, cut);
    spec.groups = spec.group_rows = spec.expected_rows = spec.source_rows = 0;
    spec.ragged = Ragged::m;
    if (by_k) {
        spec.batch_stride_a = order_a(spec.layout) == Order::row ? spec.k : spec.k * spec.lda;
        spec.batch_stride_b = order_b(spec.layout) == Order::row ? spec.k * spec.ldb : spec.k;
        return spec;
    }
    spec.batch_stride_a = order_a(spec.layout) == Order::row ? spec.m * spec.lda : spec.m;
    spec.batch_stride_d = spec.m * spec.ldd;
    if (spec.c) spec.batch_stride_c = spec.m * spec.ldc;
    return spec;
}

}  // namespace

/// A row of them is whole vectors of 16 bytes, of any type.
constexpr std::int64_t kColumnsOfEmpty = 16;

bool has_unknown_sizes(const Problem& problem) {
    const GemmSpec& spec = problem.row_major();
    return has_groups(spec) || spec.m == 0 || spec.n == 0;
}

Problem expected_problem(const Problem& problem) {
    Problem expected = problem;
    GemmSpec spec = has_groups(problem.row_major()) ? as_batch(problem) : problem.row_major();
    if (spec.m == 0) spec.m = 1;  // kernels are for every size
    if (spec.n == 0) spec.n = kColumnsOfEmpty;
    expected.set_row_major(spec);
    return expected;
}

}  // namespace jitgemm
