#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace jitgemm {

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn one word into the other, each letter
/// touched by at most one of them (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// "bf16" of "BF16": names are ASCII.
[[nodiscard]] std::string lower_case(std::string_view word);

/// The closest of the known words whatever their case, or an empty view when none is close enough to be what was meant.
[[nodiscard]] std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known);

/// The tail of an error message, "; did you mean 'bf16'?", or "" when nothing is close.
[[nodiscard]] std::string nearest_hint(std::string_view word, std::span<const std::string_view> known);

/// The tail of an error message about a word that is none of the known ones: "expected one of f16, bf16; did you mean
/// 'bf16'?".
[[nodiscard]] std::string expected_one_of(std::string_view word, std::span<const std::string_view> known);

/// Which of the known words it is. Throws Error with `kind` where it is none: "unknown type 'fb16': expected one of …".
[[nodiscard]] std::size_t position_of(std::string_view kind, std::string_view word,
                                      std::span<const std::string_view> known);

/// "f16, bf16, f32": the known words for an error message.
[[nodiscard]] std::string join_names(std::span<const std::string_view> names);

}  // namespace jitgemm
