#pragma once

#include "generator/families/simt_long_k/geometry.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/mma_atom.hpp"

#include <vector>

namespace jitgemm {

/// The accesses of simt_long_k's blocks to shared memory: copies and fragments of both operands, and the sums of the
/// epilogue.
[[nodiscard]] std::vector<SharedAccess> long_k_accesses(const SimtLongKConfig& config,
                                                        const SimtLongKGeometry& geometry);

/// One of these: the loads of one operand's fragments by all warps, over all k of a k-tile.
[[nodiscard]] SharedAccess long_k_fragment(Operand operand, const SimtLongKConfig& config,
                                           const SimtLongKGeometry& geometry);

}  // namespace jitgemm
