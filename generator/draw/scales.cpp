#include "generator/draw/scales.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace jitgemm {

std::vector<double> LinearScale::ticks() const {
    const double range = high_ - low_;
    const double power = std::pow(10.0, std::floor(std::log10(range / 3)));
    const double step = power * (range / power >= 15 ? 5 : range / power >= 6 ? 2 : 1);
    std::vector<double> all;
    const double first = std::ceil(low_ / step - 1e-9) + 0.0;  // rounding must not cost the tick at the edge
    const auto ticks = static_cast<int>(std::floor(high_ / step + 1e-9 * range / step - first)) + 1;
    for (int i = 0; i < ticks; ++i) all.push_back((first + i) * step);
    return all;
}

std::string segment(int x1, int y1, int x2, int y2) { return fmt::format("{},{} {},{}", x1, y1, x2, y2); }

std::string power_text(double power) {
    constexpr std::array<std::string_view, 10> kRaised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    if (power == 0 || (std::abs(power) < 1e5 && std::abs(power) >= 1e-3)) return fmt::format("{:g}", power);
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(power)) + 1e-9));
    const double factor = power / std::pow(10.0, exponent);
    std::string text = std::abs(factor - 1) < 1e-9 ? "10" : fmt::format("{:g}·10", factor);
    if (exponent < 0) text += "⁻";
    for (const char digit : std::to_string(std::abs(exponent)))
        text += kRaised.at(static_cast<std::size_t>(digit - '0'));
    return text;
}

}  // namespace jitgemm
