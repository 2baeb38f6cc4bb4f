#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace jitgemm {

/// The least number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
/// At most one of them touches a letter (optimal string alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// "bf16" of "BF16": names are ASCII.
[[nodiscard]] std::string lower_case(std::string_view word);

/// The known word that is closest, whatever its case. The view is empty if no word is close enough to be meant.
[[nodiscard]] std::string_view nearest_name(std::string_view word, std::span<const std::string_view> known);

/// The tail of an error message, "; did you mean 'bf16'?", or "" if no word is close.
[[nodiscard]] std::string nearest_hint(std::string_view word, std::span<const std::string_view> known);

/// The tail of an error message about an unknown word: "expected one of f16, bf16; did you mean 'bf16'?".
[[nodiscard]] std::string expected_one_of(std::string_view word, std::span<const std::string_view> known);

/// The position of the word among the known ones. Throws Error with `kind` if it is unknown: "unknown type 'fb16':
/// expected one of …".
[[nodiscard]] std::size_t position_of(std::string_view kind, std::string_view word,
                                      std::span<const std::string_view> known);

/// "f16, bf16, f32": the known words for an error message.
[[nodiscard]] std::string join_names(std::span<const std::string_view> names);

}  // namespace jitgemm
