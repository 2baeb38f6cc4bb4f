#pragma once

#include "generator/base/kernel_entry.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// C statements, a line each, that fill the argument struct `target` of an entry, but for its tensor maps; `value` says
/// what with.
[[nodiscard]] std::string argument_assignments(const KernelEntry& entry, std::string_view target,
                                               const std::function<std::string(const KernelArgument&)>& value);

/// What the value of an argument is called where the C text stands: "problem->lda".
using RoleName = std::function<std::string(ArgumentRole)>;

/// A tensor in global memory as C text: its address, and its dimensions from the contiguous one on.
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

/// Such expressions for all tensor maps of `target`, each only where the launch reads the matrix; `is_one_row` is the
/// expression that tells whether C is where the spec leaves that open, and `statement(expression)` makes a line of one.
[[nodiscard]] std::string tensor_map_statements(const KernelEntry& entry, const GemmSpec& row_major,
                                                std::string_view target, const RoleName& name,
                                                std::string_view is_one_row,
                                                const std::function<std::string(std::string)>& statement);

[[nodiscard]] bool has_tensor_maps(const KernelEntry& entry);

/// encode_tensor_map() in C, for who has cuda.h: extents, pitches and box from the contiguous dimension on, in
/// elements.
[[nodiscard]] std::string encode_tensor_map_text(int rank);
/// One for each rank that the entries' maps have, each behind an empty line.
[[nodiscard]] std::string encode_tensor_map_texts(const std::vector<KernelEntry>& entries);

}  // namespace jitgemm
