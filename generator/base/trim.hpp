#pragma once

#include <string_view>

namespace jitgemm {

/// Without the blanks at both ends.
[[nodiscard]] constexpr std::string_view trim(std::string_view text, std::string_view blanks = " \t\r") {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace jitgemm
