#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/shared/tensor_core_geometry.hpp"

namespace jitgemm {

/// Everything that follows from signature and config alone. tiling_lines() prints the part that the kernel needs. It
/// never throws: the constraints report divisions with a remainder.
[[nodiscard]] TensorCoreGeometry geometry(const GemmSignature& signature, const MmaMultistageConfig& config);

/// Whether the epilogue rearranges sums of 32 bits through shared memory, and then makes elements of D of them. Else it
/// rearranges elements of D.
[[nodiscard]] bool stages_sums(const GemmSignature& signature, const MmaMultistageConfig& config);

}  // namespace jitgemm
