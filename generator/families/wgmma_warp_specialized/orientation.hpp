#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"

namespace jitgemm {

/// The problem as wgmmas see it: the same, or with swap_ab D^T = B^T A^T, where m is the n that was asked for and A is B^T. What is
/// said of D (its alignment, ldd) stays D's own.
[[nodiscard]] GemmSpec as_multiplied(const GemmSpec& row_major, const WgmmaWarpSpecializedConfig& config);
[[nodiscard]] GemmSignature as_multiplied(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config);

}  // namespace jitgemm
