#include "runtime/cli/sizes.hpp"

#include "generator/base/parse_number.hpp"
#include "runtime/cli/exit_codes.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <system_error>

namespace jitgemm::cli {

std::string size_text(std::int64_t bytes) {
    static constexpr std::array<const char*, 5> kUnits{"B", "KB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < kUnits.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::int64_t parse_size(std::string_view option, std::string_view text) {
    constexpr std::string_view kLetters = "KMGT";
    std::string_view digits = text;
    if (digits.ends_with('B')) digits.remove_suffix(1);
    double unit = 1;
    if (const std::size_t power = kLetters.find(digits.empty() ? '?' : digits.back());
        power != std::string_view::npos) {
        unit = std::exp2(10.0 * static_cast<double>(power + 1));
        digits.remove_suffix(1);
    }
    const std::optional<double> value = parse_number<double>(digits);
    if (!value || !(*value >= 0) || *value * unit > std::exp2(62))
        throw UsageError(fmt::format("--{} is '{}': expected a size as in 500M or 2G", option, text));
    return static_cast<std::int64_t>(*value * unit);
}

}  // namespace jitgemm::cli
