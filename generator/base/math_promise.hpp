#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <span>
#include <string_view>

namespace jitgemm {

/// The errors that a math of f32 operands is allowed: of an element of D, before it is rounded to D's type, at most
/// (relative + per_k * K) * S + K * largest * max_a * max_b + K * tiny * (max_a + max_b). S is the sum of |a * b| over
/// K, and max_a and max_b are the largest elements of the row of A and the column of B.
struct MathPromise {
    Math math = Math::f16x3;
    double relative = 0;
    double per_k = 0;
    double largest = 0;
    double tiny = 0;
    bool in_norm = false;     ///< holds for the norm over D, not for each element
    std::string_view bound;   ///< the formula, as docs/single-precision.md has it
    std::string_view limits;  ///< a sentence: the inputs for which the bound is large

    [[nodiscard]] constexpr double error(double k, double sum, double max_a, double max_b) const {
        return (relative + per_k * k) * sum + k * largest * max_a * max_b + k * tiny * (max_a + max_b);
    }
};

/// Those of all maths but ieee.
[[nodiscard]] std::span<const MathPromise> math_promises();
/// Null for ieee, whose error is that of a chain of FMAs.
[[nodiscard]] const MathPromise* promise_of(Math math);

}  // namespace jitgemm
