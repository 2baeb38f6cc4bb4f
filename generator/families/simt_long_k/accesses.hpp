#pragma once

#include "generator/families/simt_long_k/geometry.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/mma_atom.hpp"

#include <vector>

namespace jitgemm {

/// What simt_long_k's blocks do to shared memory: copies and fragments of both operands, and sums on their way out.
[[nodiscard]] std::vector<SharedAccess> long_k_accesses(const SimtLongKConfig& config,
                                                        const SimtLongKGeometry& geometry);

/// Of these, the loads of one operand's fragments by all warps, in all k of a k-tile.
[[nodiscard]] SharedAccess long_k_fragment(Operand operand, const SimtLongKConfig& config,
                                           const SimtLongKGeometry& geometry);

}  // namespace jitgemm
