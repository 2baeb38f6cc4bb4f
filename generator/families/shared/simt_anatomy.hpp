#pragma once

#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"
#include "generator/families/shared/simt_tiling.hpp"

namespace jitgemm {

/// The parts of the kernel. The tiling breaks no rule for the problem.
[[nodiscard]] KernelAnatomy simt_anatomy(const Problem& problem, const SimtTiling& tiling);

/// Cache lines that a warp touches when each thread loads its element of A or of B from global memory.
[[nodiscard]] int simt_lines_per_load(Operand operand, const GemmSignature& signature, const SimtGeometry& geometry);

/// Copies of A and of B into shared memory and loads from there, counted per block and `block.k` of K.
[[nodiscard]] std::vector<SharedAccess> simt_shared_accesses(const SimtGeometry& geometry);

}  // namespace jitgemm
