#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/mma_multistage/geometry.hpp"

namespace jitgemm {

/// The statements in which kernels differ in a few words, in the order of the templates' lines.
void add_statements(RenderInput& input, const GemmSignature& signature, const MmaMultistageConfig& config,
                    const TensorCoreGeometry& geometry);

}  // namespace jitgemm
