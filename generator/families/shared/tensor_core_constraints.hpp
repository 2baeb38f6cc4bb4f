#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/tensor_core_geometry.hpp"

#include <string_view>

namespace jitgemm {

/// \file Rules that kernels on tensor cores share. Each check adds the violated rules, with their numbers.

/// Types of a family beside f16 by f16 and bf16 by bf16 with results in f16, bf16 or f32.
struct TensorCoreTypes {
    bool factors_of_8_bits = false;  ///< s8 by s8, e4m3 and e5m2 in any mix
    bool outputs_of_8_bits = false;  ///< e4m3 and e5m2, of products of 16 bits
    bool parts = false;              ///< f32 with a math other than ieee
};

/// Checks types and architecture: A and B, C and D, cp.async.
[[nodiscard]] Reasons unsupported_on_tensor_cores(std::string_view family, const GemmSpec& spec, const Arch& arch,
                                                  const TensorCoreTypes& types = {});

/// A config's `promote` is the K after which this problem's sums begin anew, and k-tiles are whole multiples of it.
void check_promoted_k(Reasons& reasons, const GemmSpec& spec, int promote, int block_k);

/// Partial sums are multiplied with scales of blocks of K.
void check_scaled_types(Reasons& reasons, const Problem& problem);

void check_warps(Reasons& reasons, const TensorCoreGeometry& geometry, int most);
/// The threads of a block must divide into rows of the tile, and a thread must not copy too many vectors of it.
void check_copy(Reasons& reasons, std::string_view name, const OperandGeometry& operand, int threads);
/// Shared memory and registers.
void check_resources(Reasons& reasons, const TensorCoreGeometry& geometry, const Arch& arch);

}  // namespace jitgemm
