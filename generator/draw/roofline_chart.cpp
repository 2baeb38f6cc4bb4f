#include "generator/draw/roofline_chart.hpp"

#include "generator/draw/palette.hpp"
#include "generator/draw/scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace jitgemm {
namespace {

constexpr int kRoofHeight = 410;
constexpr int kRoofLeft = 52;
constexpr int kRoofRight = kChartWidth - 24;
constexpr int kRoofTop = 36;
constexpr int kRoofBottom = kRoofHeight - 44;
constexpr int kMark = 9;
constexpr int kLabelWidth = 17;
constexpr int kLabelHeight = 12;

struct RoofAxes {
    LogScale x;
    LogScale y;
};

RoofAxes axes_of(const RooflineChart& chart) {
    std::vector<double> intensities;
    std::vector<double> speeds;
    for (const RooflinePoint& point : chart.points) {
        intensities.push_back(point.intensity);
        speeds.push_back(point.tflops);
    }
    if (chart.each_byte_once) intensities.push_back(*chart.each_byte_once);
    for (const PeakRoof& peak : chart.peaks) speeds.push_back(peak.tflops);
    const auto [left, right] = std::ranges::minmax(intensities);
    const auto [lowest, highest] = std::ranges::minmax(speeds);
    return {LogScale(left, right, kRoofLeft, kRoofRight), LogScale(lowest, highest, kRoofBottom, kRoofTop)};
}

void draw_grid(Svg& svg, const RoofAxes& axes, const std::string& x_axis) {
    for (const double power : axes.x.powers()) {
        const int x = axes.x.pixel(power);
        svg.path(segment(x, kRoofTop, x, kRoofBottom), "g");
        svg.text(x, kRoofBottom + 15, power_text(power), "q m");
    }
    for (const double power : axes.y.powers()) {
        const int y = axes.y.pixel(power);
        svg.path(segment(kRoofLeft, y, kRoofRight, y), "g");
        svg.text(kRoofLeft - 6, y + 4, power_text(power), "q e");
    }
    svg.text((kRoofLeft + kRoofRight) / 2, kRoofBottom + 34, x_axis + ", log scale", "q m");
    svg.text(2, kRoofTop - 18, "TFLOP/s, log scale", "q");
}

/// From where the roof leaves the bottom, or the left, to where it meets the highest peak.
void draw_memory_roof(Svg& svg, const RoofAxes& axes, const MemoryRoof& roof, double peak) {
    const double first = std::max(axes.x.least(), axes.y.least() / roof.terabytes);
    const double last = std::min(axes.x.most(), peak / roof.terabytes);
    if (first >= last) return;
    const int x = axes.x.pixel(first);
    const int y = axes.y.pixel(first * roof.terabytes);
    svg.path(segment(x, y, axes.x.pixel(last), axes.y.pixel(last * roof.terabytes)), "w");
    svg.text(x + 26, y - 14, roof.name, "q");
}

void draw_peak(Svg& svg, const RoofAxes& axes, const PeakRoof& peak) {
    const int y = axes.y.pixel(peak.tflops);
    svg.path(segment(kRoofLeft, y, kRoofRight, y), "w");
    svg.text(kRoofRight - 4, y - 4, peak.name, "q e");
}

/// Each label beside its mark, and further to the right where another already stands.
class Labels {
public:
    void place(Svg& svg, int x, int y, const std::string& text) {
        if (text.empty()) return;
        Box label{x + kMark, y, kLabelWidth, kLabelHeight};
        while (std::ranges::any_of(placed_, [&](const Box& other) { return overlap(label, other); }))
            label.x += kLabelWidth;
        placed_.push_back(label);
        svg.text(label.x, y + 4, text);
    }

private:
    static bool overlap(const Box& a, const Box& b) {
        return std::abs(a.x - b.x) < kLabelWidth && std::abs(a.y - b.y) < kLabelHeight;
    }
    std::vector<Box> placed_;
};

}  // namespace

std::string roofline_chart(const RooflineChart& chart) {
    if (chart.points.empty()) return {};
    const RoofAxes axes = axes_of(chart);
    Svg svg(kChartWidth, kRoofHeight);
    draw_grid(svg, axes, chart.x_axis);
    double highest = axes.y.most();
    if (!chart.peaks.empty()) highest = std::ranges::max(chart.peaks, {}, &PeakRoof::tflops).tflops;
    for (const MemoryRoof& roof : chart.memory) draw_memory_roof(svg, axes, roof, highest);
    for (const PeakRoof& peak : chart.peaks) draw_peak(svg, axes, peak);
    if (chart.each_byte_once) {
        const int x = axes.x.pixel(*chart.each_byte_once);
        svg.path(segment(x, kRoofTop, x, kRoofBottom), "w");
        svg.text(x - 5, kRoofBottom - 8, "each byte once", "q e");
    }
    Labels labels;
    for (const RooflinePoint& point : chart.points) {
        const int x = axes.x.pixel(point.intensity);
        const int y = axes.y.pixel(point.tflops);
        svg.box({x - kMark / 2, y - kMark / 2, kMark, kMark}, color_class(point.color) + " d", point.hint);
        labels.place(svg, x, y, point.label);
    }
    return svg.figure(chart.caption, true);
}

}  // namespace jitgemm
