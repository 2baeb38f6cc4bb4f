#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/wmma_multistage/config.hpp"

namespace jitgemm {

/// Everything that follows from signature and config. The quantities are mma_multistage's, with fragments in place of
/// atoms, and sums in place of staged results. It never throws: the constraints report divisions with a remainder.
[[nodiscard]] TensorCoreGeometry geometry(const GemmSignature& signature, const WmmaMultistageConfig& config);

}  // namespace jitgemm
