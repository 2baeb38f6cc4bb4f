#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_entry.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// \file Kernels of batches (GemmSpec::batch). Each is the kernel of one problem, with batch strides among its
/// arguments. Pointers are moved to a block's problem. Tensor maps have the problem as their last dimension, or its
/// places along both dimensions of the batch as the last two. With
/// GemmSpec::pointers, a block loads the addresses of its problem's A, B, C and D: no tensor map can.

/// The arguments of the same kernel for a batch.
[[nodiscard]] std::vector<KernelArgument> with_batch(std::vector<KernelArgument> arguments,
                                                     const GemmSignature& signature);

/// Makes the entries of one problem those of a batch. Persistent blocks take tiles of all problems; in other entries,
/// each problem has its own blocks.
void make_batched(std::vector<KernelEntry>& entries, const GemmSignature& signature);

/// `fields` are the lines of GemmArgs, as arguments_text() has them. Returns the structs of a batch, and the functions
/// that make the arguments of one problem of it.
[[nodiscard]] std::string batch_arguments_text(std::span<const KernelArgument> arguments,
                                               const GemmSignature& signature, std::string_view fields);

}  // namespace jitgemm
