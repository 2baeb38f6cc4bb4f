#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/shared/pipeline_choices.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// \file Lines of the generated params.cuh, and the numbers that types have in GEMM_TYPE_* macros: alike in every
/// family.

/// 0 f16, 1 bf16, 2 f32, 3 none.
[[nodiscard]] int type_code(std::optional<DataType> type);

/// The unsigned C type of as many bytes as an element.
[[nodiscard]] std::string_view word_of(DataType type);

/// What device code calls an element in memory: "float", or "Bits" of a 16-bit type.
[[nodiscard]] std::string_view element_type(DataType type);

/// "constexpr int kStages = 4;  // comment\n"; without a comment just the first half.
[[nodiscard]] std::string constant_line(std::string_view name, int value, std::string_view comment);

/// "using ElementD = Bits;  // comment\n"
[[nodiscard]] std::string alias_line(std::string_view name, std::string_view type, std::string_view comment);

/// Lines, each behind this many spaces.
[[nodiscard]] std::string indented(int spaces, std::string_view lines);

/// kBlockM to kWarpN.
[[nodiscard]] std::string tile_lines(const TileShape& block, const TileShape& warp);

/// kGroup, where tiles are grouped.
[[nodiscard]] std::string group_line(Rasterization rasterization, int group);

/// GEMM_TYPE_AB, _C and _D and GEMM_ACCUMULATOR_F16.
[[nodiscard]] std::map<std::string, int, std::less<>> type_macros(const GemmSignature& signature);

}  // namespace jitgemm
