#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_argument.hpp"

#include <span>
#include <string>

namespace jitgemm {

/// The generated include gemm_args.cuh: `struct GemmArgs` with a field for each argument, in the host's order
/// (argument_layout), each with a comment. The signature gives element types and the orders of A and B.
[[nodiscard]] std::string arguments_text(std::span<const KernelArgument> arguments, const GemmSignature& signature);

}  // namespace jitgemm
