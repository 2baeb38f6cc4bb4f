#pragma once

#include <cstddef>
#include <string_view>

namespace jitgemm {

inline constexpr std::size_t kDeepestJson = 64;
inline constexpr std::size_t kMostJsonMembers = 1000;

/// Looks over a JSON text that may come from anyone before nlohmann's parser has it: values are copied, compared and
/// printed by recursion, and an ordered object compares a new key with all before it, so that 100 kB of brackets end
/// the stack and a few MB of keys take minutes. Throws Error where values nest deeper than kDeepestJson or an object
/// has more than kMostJsonMembers members. Whether it is JSON at all the parser will tell.
void check_json_limits(std::string_view text);

}  // namespace jitgemm
