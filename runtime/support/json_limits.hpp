#pragma once

#include <cstddef>
#include <string_view>

namespace jitgemm {

inline constexpr std::size_t kDeepestJson = 64;
inline constexpr std::size_t kMostJsonMembers = 1000;

/// Checks a JSON text from an unknown source before nlohmann's parser reads it. The parser copies, compares and prints
/// values by recursion, and an ordered object compares a new key with all before it. 100 kB of brackets would therefore
/// exhaust the stack, and a few MB of keys would take minutes. Throws Error if values nest deeper than kDeepestJson or
/// an object has more than kMostJsonMembers members. It does not check whether the text is JSON.
void check_json_limits(std::string_view text);

}  // namespace jitgemm
