#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace jitgemm {

/// The number that the whole text is, as std::from_chars reads it (decimal, no '+', no spaces); nothing for any other
/// text and for a number beyond its type.
template <typename Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace jitgemm
