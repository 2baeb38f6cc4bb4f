#pragma once

#include "generator/base/kernel_entry.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace jitgemm {

/// C statements, a line each, that fill the argument struct `target` of an entry, but for its tensor maps; `value` says what with.
[[nodiscard]] std::string argument_assignments(const KernelEntry& entry, std::string_view target,
                                               const std::function<std::string(const KernelArgument&)>& value);

/// What the value of an argument is called where the C text stands: "problem->lda".
using RoleName = std::function<std::string(ArgumentRole)>;

/// A matrix as C text, for encode_tensor_map().
struct MatrixText {
    std::string pointer, run, runs, pitch;
};
/// The C expression, of type CUresult, that encodes a tensor map of `target`.
[[nodiscard]] std::string encode_call(const TensorMapArgument& map, const GemmSpec& row_major, std::string_view target,
                                      const MatrixText& matrix);

/// Such expressions for all tensor maps of `target`, each only where the launch reads the matrix; `is_one_row` is the expression that
/// tells whether C is where the spec leaves that open, and `statement(expression)` makes a line of one.
[[nodiscard]] std::string tensor_map_statements(const KernelEntry& entry, const GemmSpec& row_major,
                                                std::string_view target, const RoleName& name,
                                                std::string_view is_one_row,
                                                const std::function<std::string(std::string)>& statement);

[[nodiscard]] bool has_tensor_maps(const KernelEntry& entry);

/// encode_tensor_map() in C, for who has cuda.h: two dimensions, from the contiguous one on, extents and box in elements.
extern const std::string_view kEncodeTensorMapText;

}  // namespace jitgemm
