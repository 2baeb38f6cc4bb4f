#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/operand_parts.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/shared/pipeline_choices.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// \file Lines of the generated params.cuh, and the numbers of types in GEMM_TYPE_* macros. All families share them.

/// 0 f16, 1 bf16, 2 f32, 3 none, 4 e4m3, 5 e5m2, 6 s8, 7 s32. Throws Error for any other type.
[[nodiscard]] int type_code(std::optional<DataType> type);

/// The unsigned C type with the size of an element.
[[nodiscard]] std::string_view word_of(DataType type);

/// The device code's type of an element in memory: "float", or "Bits" for a 16-bit type.
[[nodiscard]] std::string_view element_type(DataType type);

/// "using Accumulator = float;  // one f32 sum"
[[nodiscard]] std::string accumulator_line(DataType accumulator);

/// "constexpr int kStages = 4;  // comment\n", or the first half if there is no comment.
[[nodiscard]] std::string constant_line(std::string_view name, int value, std::string_view comment);

/// "using ElementD = Bits;  // comment\n"
[[nodiscard]] std::string alias_line(std::string_view name, std::string_view type, std::string_view comment);

/// The lines, each after this many spaces.
[[nodiscard]] std::string indented(int spaces, std::string_view lines);

/// kBlockM to kWarpN.
[[nodiscard]] std::string tile_lines(const TileShape& block, const TileShape& warp);

/// kGroup, if tiles are grouped.
[[nodiscard]] std::string group_line(Rasterization rasterization, int group);
/// "constexpr int kParts = 3; …", and the bytes of a part.
[[nodiscard]] std::string parts_lines(const OperandParts& parts);

/// GEMM_TYPE_AB, _C and _D and GEMM_ACCUMULATOR_F16.
[[nodiscard]] std::map<std::string, int, std::less<>> type_macros(const GemmSignature& signature);

}  // namespace jitgemm
