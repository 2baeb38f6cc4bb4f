#include "generator/draw/scales.hpp"

#include <fmt/format.h>

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

std::string power_text(double power) { return power < 1e6 ? fmt::format("{:g}", power) : fmt::format("{:.0e}", power); }

}  // namespace jitgemm
