#include "runtime/cli/quantities.hpp"

#include "generator/text/parse_number.hpp"
#include "runtime/cli/exit_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>

namespace jitgemm::cli {
namespace {

struct Unit {
    char letter;
    double seconds;
};
constexpr std::string_view kMoreThanNone = "a time above 0";
// In the order of a sum, each once.
constexpr std::array kUnits{Unit{'w', 604'800}, Unit{'d', 86'400}, Unit{'h', 3600}, Unit{'m', 60}, Unit{'s', 1}};

}  // namespace

std::string size_text(std::int64_t bytes) {
    static constexpr std::array<const char*, 5> kNames{"B", "KB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < kNames.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kNames[unit]);
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
        throw UsageError(fmt::format("--{} is '{}': expected a size such as 500M or 2G", option, text));
    return static_cast<std::int64_t>(*value * unit);
}

double parse_duration(std::string_view option, std::string_view text, BareNumber bare) {
    const auto refuse = [&](std::string_view why) {
        throw UsageError(fmt::format("--{} is '{}': expected {}", option, text, why));
    };
    constexpr std::string_view kExpected = "a time such as 90s, 5m, 1h or 1m30s";
    double sum = 0;
    std::string_view rest = text;
    std::span<const Unit> units = kUnits;
    do {
        double value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc() || !std::isfinite(value)) refuse(kExpected);
        if (value < 0) refuse(kMoreThanNone);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        if (rest.empty() && units.size() == kUnits.size()) {
            if (bare == BareNumber::refused) refuse("a unit behind the number, as in 12h, 30d or 8w");
            rest = "s";
        }
        const auto unit = rest.empty() ? units.end() : std::ranges::find(units, rest.front(), &Unit::letter);
        if (unit == units.end()) refuse(kExpected);
        sum += value * unit->seconds;
        rest.remove_prefix(1);
        units = {std::next(unit), units.end()};
    } while (!rest.empty());
    if (sum <= 0) refuse(kMoreThanNone);
    return sum;
}

}  // namespace jitgemm::cli
