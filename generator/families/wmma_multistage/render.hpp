#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// GEMM_* values, params.cuh, wmma_atom.cuh and cp_async.inl of a kernel.
[[nodiscard]] RenderInput wmma_multistage_render_input(const GemmSignature& signature, const KernelConfig& config);

/// One kernel, no workspace.
[[nodiscard]] std::vector<KernelEntry> wmma_multistage_entries(const GemmSignature& signature,
                                                               const KernelConfig& config);
[[nodiscard]] std::int64_t wmma_multistage_workspace_bytes(const GemmSpec& spec, const KernelConfig& config);

/// Block and warp that compute an element of D. Which lane holds it, the hardware alone knows.
[[nodiscard]] ElementOwner wmma_multistage_owner(const GemmSpec& spec, const KernelConfig& config, std::int64_t row,
                                                 std::int64_t column);

}  // namespace jitgemm
