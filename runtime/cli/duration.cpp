#include "runtime/cli/duration.hpp"

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
constexpr std::string_view kMoreThanNone = "more than no time";
// In the order of a sum, each once.
constexpr std::array kUnits{Unit{'w', 604'800}, Unit{'d', 86'400}, Unit{'h', 3600}, Unit{'m', 60}, Unit{'s', 1}};

}  // namespace

double parse_duration(std::string_view option, std::string_view text) {
    const auto refuse = [&](std::string_view why) {
        throw UsageError(fmt::format("--{} is '{}': expected {}", option, text, why));
    };
    constexpr std::string_view kExpected = "a time as in 90s, 5m, 1h or 1m30s";
    double sum = 0;
    std::string_view rest = text;
    std::span<const Unit> units = kUnits;
    do {
        double value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc() || !std::isfinite(value)) refuse(kExpected);
        if (value < 0) refuse(kMoreThanNone);
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        if (rest.empty() && units.size() == kUnits.size()) rest = "s";  // a bare number
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
