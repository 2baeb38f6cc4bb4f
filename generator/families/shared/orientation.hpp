#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/anatomy.hpp"

namespace jitgemm {

/// The problem as the instructions compute it. With swap_ab it is D^T = B^T A^T: its m is the problem's n, and its A is
/// B^T. The alignment of D and ldd stay those of D.
[[nodiscard]] GemmSpec as_multiplied(const GemmSpec& row_major, bool swap_ab);
[[nodiscard]] GemmSignature as_multiplied(const GemmSignature& signature, bool swap_ab);
/// Turns tiles of as_multiplied() into tiles of D.
void turn_tiles(KernelAnatomy& anatomy);

}  // namespace jitgemm
