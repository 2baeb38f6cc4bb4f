#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_entry.hpp"

#include <utility>
#include <vector>

namespace jitgemm {

/// The fields of GemmArgs in the generated gemm_args.cuh, in order.
[[nodiscard]] std::vector<KernelArgument> gemm_arguments(const GemmSignature& signature, bool has_workspace);

/// The epilogue adds these arguments: addresses and pitches of its operands, and scalars of the launch. Without a text
/// they are those of C, alpha and beta.
void add_epilogue_pointers(std::vector<KernelArgument>& list, const GemmSignature& signature);
void add_epilogue_pitches(std::vector<KernelArgument>& list, const GemmSignature& signature);
void add_epilogue_scalars(std::vector<KernelArgument>& list, const GemmSignature& signature);

/// The entry `gemm` of a kernel of this geometry (threads, shared_bytes).
template <typename Geometry>
[[nodiscard]] KernelEntry gemm_entry(const Geometry& g, const GridRule& grid, std::vector<KernelArgument> arguments) {
    KernelEntry gemm;
    gemm.function = kMultiplyingFunction;
    gemm.threads = g.threads;
    gemm.shared_bytes = static_cast<int>(g.shared_bytes);
    gemm.grid = grid;
    gemm.arguments = std::move(arguments);
    return gemm;
}

}  // namespace jitgemm
