#pragma once

#include "generator/base/arch.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <string>

namespace jitgemm {

/// How a kernel adds up the products of an element of D. Floating-point sums depend on the order, and an instruction
/// that adds several products at once has its own order. Kernels with equal sum orders give equal bits, whatever their
/// tiles, if the products and the steps after them (alpha, beta, one rounding) are equal.
struct SumOrder {
    MathInstruction instruction = MathInstruction::fma;
    int instruction_k = 1;  ///< products that one instruction adds to a sum
    /// One plain sum, to which products are added in order of k. Not so: K is shared out (split-K, stream-K, lanes), or
    /// rounding errors are carried along.
    bool in_k_order = true;

    friend bool operator==(const SumOrder&, const SumOrder&) = default;
};

/// "wgmma over 16 of k, in order of k"
[[nodiscard]] std::string to_string(const SumOrder& order);

/// The one order of all kernels that serve Determinism::batch_invariant. It is in order of k and undivided, because the
/// best division of K depends on m. Its instruction is the fastest one for these types on the architecture.
[[nodiscard]] SumOrder batch_invariant_order(const GemmSpec& spec, const Arch& arch);

}  // namespace jitgemm
