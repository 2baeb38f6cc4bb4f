#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// GEMM_* values, params.cuh and mma_atom.cuh of a kernel.
[[nodiscard]] RenderInput mma_multistage_render_input(const GemmSignature& signature, const KernelConfig& config);

/// The packing of A and of B where the config asks for it, the main kernel, and with split-K the reduction.
[[nodiscard]] std::vector<KernelEntry> mma_multistage_entries(const GemmSignature& signature,
                                                              const KernelConfig& config);

/// Packed operands, then split_k slabs of m rows of f32, each row rounded up to 4 elements; templates/workspace.cuh lays them out.
[[nodiscard]] std::int64_t mma_multistage_workspace_bytes(const GemmSpec& spec, const KernelConfig& config);

/// Block, warp, lane and accumulator register that compute an element of D; with split-K of the first split.
[[nodiscard]] ElementOwner mma_multistage_owner(const GemmSpec& spec, const KernelConfig& config, std::int64_t row,
                                                std::int64_t column);

}  // namespace jitgemm
