#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/base/operand.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// C statements, one per line, that fill the argument struct `target` of an entry, except its tensor maps. `value`
/// gives the expression for an argument.
[[nodiscard]] std::string argument_assignments(const KernelEntry& entry, std::string_view target,
                                               const std::function<std::string(const KernelArgument&)>& value);

/// The expression for an argument's value in the C text: "problem->lda".
using RoleName = std::function<std::string(ArgumentRole)>;

/// A tensor in global memory as C text: its address, and its dimensions, the contiguous one first.
struct TensorDimensionText {
    std::string extent, pitch;
};
struct TensorText {
    std::string pointer;
    std::vector<TensorDimensionText> dimensions;
};
/// The C expression, of type CUresult, that encodes a tensor map of `target`.
[[nodiscard]] std::string encode_call(const TensorMapArgument& map, const GemmSpec& row_major, std::string_view target,
                                      const TensorText& tensor);

/// The scalars that must not be 0, and K, if a launch is to read an operand: "problem->alpha".
[[nodiscard]] std::vector<std::string> guards_text(const GemmOperand& operand, const RoleName& name);

/// The expressions for all tensor maps of `target`. Each is evaluated only if the launch reads the matrix. `is_one_row`
/// is an expression: whether C is one row, if the spec leaves that open. `statement(expression)` makes a line of an
/// expression.
[[nodiscard]] std::string tensor_map_statements(const KernelEntry& entry, const GemmSpec& row_major,
                                                std::string_view target, const RoleName& name,
                                                std::string_view is_one_row,
                                                const std::function<std::string(std::string)>& statement);

[[nodiscard]] bool has_tensor_maps(const KernelEntry& entry);

/// The function encode_tensor_map() in C, for programs that include cuda.h. Its extents, pitches and box begin with the
/// contiguous dimension and are in elements.
[[nodiscard]] std::string encode_tensor_map_text(int rank);
/// One function for each rank of the entries' maps, each after an empty line.
[[nodiscard]] std::string encode_tensor_map_texts(const std::vector<KernelEntry>& entries);

}  // namespace jitgemm
