#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/wmma_multistage/config.hpp"

namespace jitgemm {

/// What follows from signature and config: the quantities are mma_multistage's, fragments in place of atoms, sums in
/// place of results staged by the epilogue. Never throws; divisions that don't come out are the constraints' business.
[[nodiscard]] TensorCoreGeometry geometry(const GemmSignature& signature, const WmmaMultistageConfig& config);

}  // namespace jitgemm
