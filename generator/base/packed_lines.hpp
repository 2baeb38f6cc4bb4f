#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// `start` and items with commas between them, broken before column 120 as clang-format does; later lines begin with
/// `indent` spaces, and `tail` columns stay free behind the last item.
[[nodiscard]] std::string packed_items(std::string start, const std::vector<std::string>& items, std::size_t indent,
                                       std::size_t tail);

/// The same for a list that is text already: its items end with ", ".
[[nodiscard]] std::string in_lines(std::string_view list, std::size_t indent);

}  // namespace jitgemm
