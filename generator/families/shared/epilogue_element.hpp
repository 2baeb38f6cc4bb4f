#pragma once

#include "generator/epilogue/epilogue.hpp"
#include "jitgemm/data_type.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The text of epilogue_expression.cuh for an epilogue: `finish` of its line of text, and `finish_element(args, row,
/// column, acc)`, which reads the operands of an element of D from global memory and gives its value.
[[nodiscard]] std::string epilogue_element(const Epilogue& epilogue);

/// The text of finish_vector.cuh, for kernels that store vectors of a row of D: `finish_vector(args, row, column, acc,
/// d)`, which stores vectors of the other outputs. Empty if there are none.
[[nodiscard]] std::string epilogue_vector(const Epilogue& epilogue);

/// The type of an operand's elements in a kernel: "float" or "unsigned short".
[[nodiscard]] std::string_view operand_element(DataType type);

/// The functions that make floats of the operands' elements, each once.
[[nodiscard]] std::string operand_conversions(const EpilogueParts& parts);
/// "float_of_bf16(args.bias[column])"; an f32 as it is.
[[nodiscard]] std::string as_float(DataType type, const std::string& element);
/// "args.beta == 0.0f", by which an operand is not read; "" if it is always read.
[[nodiscard]] std::string unread_condition(const EpilogueParts& parts, const std::vector<int>& guards);

/// Why no kernel has this epilogue yet, each with its place in the text; empty if kernels do. `is_transposed`: the
/// caller wrote the text for the transposed product.
[[nodiscard]] std::vector<std::string> unserved_epilogue(const Epilogue& epilogue, bool is_transposed);

}  // namespace jitgemm
