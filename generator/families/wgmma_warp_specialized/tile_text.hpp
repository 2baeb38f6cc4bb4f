#pragma once

#include "generator/families/wgmma_warp_specialized/tile_operands.hpp"

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// \file What the text of `struct TileOperands` and that of the slices beside D's have in common.

/// Includes of templates/epilogue/, in this order.
[[nodiscard]] std::string include_lines(const std::set<std::string_view>& names,
                                        std::span<const std::string_view> order);

[[nodiscard]] bool is_f32(const TileOutput& one);
/// "pack_bf16", which converts two values.
[[nodiscard]] std::string packing_function(const TileOutput& one);
/// D and the outputs that have slices, in the text's order but for D, which is the last.
[[nodiscard]] std::vector<std::string> kept_names(const TileOperands& all);

}  // namespace jitgemm
