#include "generator/base/problem.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/prepared_form.hpp"
#include "generator/epilogue/epilogue_text.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

/// A kernel moves this many bytes of a wider matrix of an epilogue as several vectors.
constexpr int kLongestVector = 16;

/// D and the matrices that its elements are made of move in vectors of one length in elements: as many as the least
/// aligned of them allows.
int d_alignment(const GemmSpec& spec) {
    int elements = spec.align_d / bytes(spec.d);
    for (const GemmOperand& operand : kernel_operands(spec)) {
        if (operand.needs_k() || operand.is_over_blocks() || !operand.is_matrix()) continue;
        if (operand.epilogue != nullptr && operand.alignment == kLongestVector) continue;
        elements = std::min(elements, operand.alignment / bytes(operand.type));
    }
    return elements * bytes(spec.d);
}

GemmSignature signature_of(const GemmSpec& row_major) {
    return {.layout = row_major.layout,
            .a = row_major.a,
            .b = row_major.b,
            .c = row_major.c,
            .d = row_major.d,
            .accumulator = row_major.accumulator,
            .align_a = row_major.align_a,
            .align_b = row_major.align_b,
            .align_d = d_alignment(row_major),
            .math = row_major.math,
            .prepared = row_major.prepared,
            .batched = is_batched(row_major) || has_groups(row_major),
            .nested = is_nested(row_major),
            .pointers = row_major.pointers,
            .grouped = is_grouped(row_major),
            .grouped_by_k = is_grouped_by_k(row_major),
            .symmetric = row_major.symmetric,
            .gathered = is_gathered(row_major),
            .epilogue = meaning_of(row_major.epilogue, row_major.d)};
}

/// A group begins at any row, or at any k, so lines along that dimension may begin at any element.
GemmSpec with_alignment_of_groups(GemmSpec row_major) {
    const bool by_k = is_grouped_by_k(row_major), cuts_rows = is_grouped(row_major);
    const bool is_a_row_major = order_a(row_major.layout) == Order::row;
    if (by_k ? is_a_row_major : cuts_rows && !is_a_row_major) row_major.align_a = bytes(row_major.a);
    if (by_k && order_b(row_major.layout) == Order::column) row_major.align_b = bytes(row_major.b);
    return row_major;
}

}  // namespace

Problem problem_of(const GemmSpec& spec) {
    Problem problem;
    problem.asked = resolved(spec);
    if (problem.asked.prepared != Prepared::none) {
        const GemmSpec prepared = as_prepared(problem.asked);
        if (prepared != problem.asked) problem.before_preparation = RareSpec(std::exchange(problem.asked, prepared));
    }
    problem.set_row_major(with_alignment_of_groups(with_row_major_d(problem.asked)));
    problem.signature = signature_of(problem.row_major());
    // A symmetric D is its own transpose, and has one factor.
    problem.transposed = as_lines(problem.asked).d_order == Order::column && !problem.asked.symmetric;
    return problem;
}

}  // namespace jitgemm
