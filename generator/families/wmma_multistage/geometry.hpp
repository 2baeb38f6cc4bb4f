#pragma once

#include "generator/families/mma_multistage/geometry.hpp"

namespace jitgemm {

/// What follows from signature and config: the quantities are mma_multistage's, fragments in place of atoms, sums in place of
/// results staged by the epilogue. Never throws; divisions that don't come out are the constraints' business.
[[nodiscard]] MmaMultistageGeometry geometry(const GemmSignature& signature, const WmmaMultistageConfig& config);

}  // namespace jitgemm
