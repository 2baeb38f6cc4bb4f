#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// Accesses are those that the ISA specifies: copies into the pipeline and what the epilogue reads back. Which addresses the
/// lanes of wmma.load and wmma.store touch is left to the hardware.
[[nodiscard]] KernelAnatomy wmma_multistage_anatomy(const GemmSpec& spec, const KernelConfig& config);

}  // namespace jitgemm
