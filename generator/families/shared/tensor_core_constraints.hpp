#pragma once

#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/tensor_core_geometry.hpp"

#include <string_view>

namespace jitgemm {

/// \file Rules that the kernels of 16-bit operands on tensor cores share. Each check adds the violated rules, with
/// their numbers.

/// Checks types and architecture: f16 by f16 or bf16 by bf16 (with `has_8_bits` also s8 by s8, and e4m3 and e5m2 in
/// any mix), C and D of the same type or f32, cp.async.
[[nodiscard]] Reasons unsupported_on_tensor_cores(std::string_view family, const GemmSpec& spec, const Arch& arch,
                                                  bool has_8_bits = false);

void check_warps(Reasons& reasons, const TensorCoreGeometry& geometry, int most);
/// The threads of a block must divide into rows of the tile, and a thread must not copy too many vectors of it.
void check_copy(Reasons& reasons, std::string_view name, const OperandGeometry& operand, int threads);
/// Shared memory and registers.
void check_resources(Reasons& reasons, const TensorCoreGeometry& geometry, const Arch& arch);

}  // namespace jitgemm
