#pragma once

#include "generator/base/gemm_signature.hpp"

#include <utility>

namespace jitgemm {

/// Few problems have one, and a context keeps thousands of problems.
using RareSpec = Rare<GemmSpec>;

/// A problem in the form in which kernels are chosen and made for it. problem_of() makes it once, when a request comes
/// in.
struct Problem {
    /// The caller's problem, with all leading dimensions and alignments as numbers. A prepared operand has the layout
    /// that its preparation gives it, and is then like any other. Only one in parts remains `prepared`.
    GemmSpec asked;
    RareSpec other_row_major = {};     ///< row_major(), where it is not `asked`
    GemmSignature signature;           ///< of row_major()
    bool transposed = false;           ///< whether row_major() computes the transpose of D: its A is the caller's B
    RareSpec before_preparation = {};  ///< where preparations change `asked`, the problem before

    void set_row_major(const GemmSpec& spec) { other_row_major = spec == asked ? RareSpec() : RareSpec(spec); }
    /// The problem that kernels compute: the same one with a row-major D.
    [[nodiscard]] const GemmSpec& row_major() const& { return other_row_major ? *other_row_major : asked; }
    [[nodiscard]] GemmSpec row_major() && { return std::as_const(*this).row_major(); }

    /// As the caller asked, with operands as they lie before they are prepared.
    [[nodiscard]] const GemmSpec& requested() const { return before_preparation ? *before_preparation : asked; }
};

/// Throws SpecError with all problems() of the spec.
[[nodiscard]] Problem problem_of(const GemmSpec& spec);

}  // namespace jitgemm
