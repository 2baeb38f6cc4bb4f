#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/mma_multistage/config.hpp"

namespace jitgemm {

/// Registers of a thread for the scales of a block of K.
[[nodiscard]] int block_scale_registers(const GemmSignature& signature, const MmaMultistageConfig& config);

/// The statements of templates/multistage/block_scales.cuh.
void add_block_scales(RenderInput& input, const GemmSignature& signature, const MmaMultistageConfig& config);

}  // namespace jitgemm
