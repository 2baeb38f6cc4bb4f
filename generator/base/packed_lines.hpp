#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A line of a dump has at most this many columns, and a block is indented by this many.
inline constexpr std::size_t kTextColumns = 120;
inline constexpr std::size_t kTextIndent = 4;

/// `start` and items with commas between them, broken before column 120 as clang-format does; later lines begin with
/// `indent` spaces, and `tail` columns stay free behind the last item.
[[nodiscard]] std::string packed_items(std::string start, const std::vector<std::string>& items, std::size_t indent,
                                       std::size_t tail);

/// The same for a list that is text already: its items end with ", ".
[[nodiscard]] std::string in_lines(std::string_view list, std::size_t indent);

/// The same for a call or the head of a function: later lines begin behind its parenthesis.
[[nodiscard]] std::string call_in_lines(std::string_view call);

/// "function(first, others);" as it stands in a function, without its indentation, which a rendering adds.
[[nodiscard]] std::string call_statement(std::string_view function, const std::string& first,
                                         const std::vector<std::string>& others, std::size_t indent = kTextIndent);

/// "target = value" in one line, or in two where one is too short. `value` has the semicolon.
[[nodiscard]] std::string assignment(std::size_t indent, const std::string& target, const std::string& value);

}  // namespace jitgemm
