#include "generator/base/problem.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

/// C and D move in vectors of one length in elements: as many as the less aligned of them allows.
int d_alignment(const GemmSpec& spec) {
    int elements = spec.align_d / bytes(spec.d);
    if (spec.c) elements = std::min(elements, spec.align_c / bytes(*spec.c));
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
            .align_d = d_alignment(row_major)};
}

}  // namespace

Problem problem_of(const GemmSpec& spec) {
    Problem problem;
    problem.asked = resolved(spec);
    problem.row_major = with_row_major_d(problem.asked);
    problem.signature = signature_of(problem.row_major);
    problem.transposed = as_lines(problem.asked).d_order == Order::column;
    return problem;
}

}  // namespace jitgemm
