#pragma once

#include "generator/families/mma_multistage_geometry.hpp"
#include "generator/kernel_source.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// \file Rules that the kernels of 16-bit operands on tensor cores share. Each check adds what is violated, with its numbers.

using Reasons = std::vector<std::string>;

/// Types and architecture: f16 by f16 or bf16 by bf16, C and D in these or f32, cp.async.
[[nodiscard]] Reasons unsupported_on_tensor_cores(std::string_view family, const GemmSpec& spec, const Arch& arch);

void check_divides(Reasons& reasons, std::string_view whole_name, int whole, std::string_view part_name, int part);
void check_warps(Reasons& reasons, const MmaMultistageGeometry& geometry, int most);
/// The threads of a block must divide into rows of the tile, and a thread must not copy too many vectors of it.
void check_copy(Reasons& reasons, std::string_view name, const OperandGeometry& operand, int threads);
void check_rasterization(Reasons& reasons, Rasterization rasterization, int group);
/// Shared memory and registers.
void check_resources(Reasons& reasons, const MmaMultistageGeometry& geometry, const Arch& arch);
void check_grid(Reasons& reasons, const GemmSpec& spec, const GridRule& grid);

}  // namespace jitgemm
