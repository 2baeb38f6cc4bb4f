#pragma once

#include "jitgemm/options.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace jitgemm {

/// In the order of the enumeration.
inline constexpr std::array<std::string_view, 3> kOnMissNames{"wait", "serve", "fail"};

[[nodiscard]] constexpr std::optional<OnMiss> parse_on_miss(std::string_view name) {
    for (std::size_t i = 0; i < kOnMissNames.size(); ++i)
        if (kOnMissNames[i] == name) return static_cast<OnMiss>(i);
    return std::nullopt;
}

}  // namespace jitgemm
