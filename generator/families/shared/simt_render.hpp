#pragma once

#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"
#include "generator/families/shared/simt_tiling.hpp"

namespace jitgemm {

/// GEMM_* values and params.cuh of a plain SIMT kernel.
[[nodiscard]] RenderInput simt_render_input(const GemmSignature& signature, const SimtTiling& tiling);

/// One kernel, no workspace.
[[nodiscard]] std::vector<KernelEntry> simt_entries(const GemmSignature& signature, const SimtTiling& tiling);

/// Block, warp, lane and sum (row by row of the thread tile) that compute an element of D.
[[nodiscard]] ElementOwner simt_owner(const Problem& problem, const SimtTiling& tiling, std::int64_t row,
                                      std::int64_t column);

}  // namespace jitgemm
