#pragma once

#include "generator/families/family.hpp"

namespace jitgemm {

/// Accesses are those that the ISA specifies: copies into the pipeline and what the epilogue reads back. Which addresses the
/// lanes of wmma.load and wmma.store touch is left to the hardware.
[[nodiscard]] KernelAnatomy wmma_multistage_anatomy(const GemmSpec& spec, const KernelConfig& config);

/// The fragment loads of a k-block as ptxas makes them, of which the ISA says nothing: each wmma.load becomes ldmatrix of
/// the fragment's 8x8 matrices, whose rows of 16 bytes lie a row of the tile apart (docs/families.md).
[[nodiscard]] std::vector<SharedAccess> wmma_fragment_loads(const GemmSpec& spec, const KernelConfig& config);

}  // namespace jitgemm
