#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/anatomy.hpp"

namespace jitgemm {

/// The problem as the instructions see it. With swap_ab it is D^T = B^T A^T: m is the problem's n, and A is B^T. The
/// alignment of D and ldd stay those of D.
[[nodiscard]] GemmSpec as_multiplied(const GemmSpec& row_major, bool swap_ab);
[[nodiscard]] GemmSignature as_multiplied(const GemmSignature& signature, bool swap_ab);
/// Tiles of the problem as multiplied become tiles of D.
void turn_tiles(KernelAnatomy& anatomy);

}  // namespace jitgemm
