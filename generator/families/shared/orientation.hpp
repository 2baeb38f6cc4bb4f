#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/anatomy.hpp"

namespace jitgemm {

/// The problem as the instructions see it: the same, or with swap_ab D^T = B^T A^T, where m is the problem's n and A is B^T. What is
/// said of D (its alignment, ldd) stays D's own.
[[nodiscard]] GemmSpec as_multiplied(const GemmSpec& row_major, bool swap_ab);
[[nodiscard]] GemmSignature as_multiplied(const GemmSignature& signature, bool swap_ab);
/// Tiles of the problem as multiplied become tiles of D.
void turn_tiles(KernelAnatomy& anatomy);

}  // namespace jitgemm
