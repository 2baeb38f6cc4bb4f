#include "generator/base/gemm_signature.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

/// C and D move in vectors of one length in elements: as many as the less aligned of them allows.
int d_alignment(const GemmSpec& spec) {
    int elements = spec.align_d / bytes(spec.d);
    if (spec.c) elements = std::min(elements, spec.align_c / bytes(*spec.c));
    return elements * bytes(spec.d);
}

}  // namespace

GemmSignature signature(const GemmSpec& spec) { return signature_of_resolved(with_row_major_d(resolved(spec))); }

GemmSignature signature_of_resolved(const GemmSpec& form) {
    return {.layout = form.layout,
            .a = form.a,
            .b = form.b,
            .c = form.c,
            .d = form.d,
            .accumulator = form.accumulator,
            .align_a = form.align_a,
            .align_b = form.align_b,
            .align_d = d_alignment(form),
            .batched = form.batch > 1,
            .epilogue = form.epilogue};
}

}  // namespace jitgemm
