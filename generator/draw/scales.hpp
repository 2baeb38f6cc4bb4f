#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace jitgemm {

/// The width of a chart. Two of them fit side by side.
inline constexpr int kChartWidth = 560;

/// Maps values to pixels. Powers of ten enclose a chart's values.
class LogScale {
public:
    LogScale(double least, double most, double first_pixel, double last_pixel)
        : low_(std::floor(std::log10(least))),
          high_(std::max(low_ + 1, std::ceil(std::log10(most)))),
          first_pixel_(first_pixel),
          last_pixel_(last_pixel) {}

    [[nodiscard]] int pixel(double value) const {
        const double part = (std::log10(value) - low_) / (high_ - low_);
        return static_cast<int>(std::lround(first_pixel_ + part * (last_pixel_ - first_pixel_)));
    }
    [[nodiscard]] std::vector<double> powers() const {
        std::vector<double> all;
        const int steps = static_cast<int>(high_ - low_);
        for (int step = 0; step <= steps; ++step) all.push_back(std::pow(10.0, low_ + step));
        return all;
    }
    [[nodiscard]] double least() const { return std::pow(10.0, low_); }
    [[nodiscard]] double most() const { return std::pow(10.0, high_); }

private:
    double low_;
    double high_;
    double first_pixel_;
    double last_pixel_;
};

/// Maps values to pixels between two limits. Values outside are drawn at the edge.
class LinearScale {
public:
    LinearScale(double least, double most, double first_pixel, double last_pixel)
        : low_(least), high_(std::max(most, least + 1e-9)), first_pixel_(first_pixel), last_pixel_(last_pixel) {}

    [[nodiscard]] int pixel(double value) const {
        const double part = (std::clamp(value, low_, high_) - low_) / (high_ - low_);
        return static_cast<int>(std::lround(first_pixel_ + part * (last_pixel_ - first_pixel_)));
    }
    /// Round values, 1, 2 or 5 times a power of ten apart: three to eight of them.
    [[nodiscard]] std::vector<double> ticks() const;

private:
    double low_;
    double high_;
    double first_pixel_;
    double last_pixel_;
};

/// The points of a straight line, for Svg::path.
[[nodiscard]] std::string segment(int x1, int y1, int x2, int y2);
/// "0.1", "1000", "10⁶", "2.5·10⁶".
[[nodiscard]] std::string power_text(double power);

}  // namespace jitgemm
