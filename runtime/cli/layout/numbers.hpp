#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// "3,3,3" or "128x64": integers between commas or letters x, as the verbs below `layout` take them. Throws UsageError
/// naming the option where one is no integer of at most 9 digits, or their number is not `count` (0: any from 1 on).
[[nodiscard]] std::vector<std::int64_t> parse_numbers(std::string_view option, std::string_view text,
                                                      std::size_t count = 0);

}  // namespace jitgemm::cli
