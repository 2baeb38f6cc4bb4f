#include "runtime/cli/ladder_charts.hpp"

#include "generator/draw/palette.hpp"
#include "generator/draw/scales.hpp"
#include "generator/draw/svg.hpp"
#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jitgemm::cli {
namespace {

// ---- roofline -------------------------------------------------------------------------------------------------------

constexpr int kRoofHeight = 400;
constexpr int kRoofLeft = 46;
constexpr int kRoofRight = kChartWidth - 24;
constexpr int kRoofTop = 32;
constexpr int kRoofBottom = kRoofHeight - 40;
constexpr int kDot = 9;
constexpr int kLabelWidth = 17;
constexpr int kLabelHeight = 12;
constexpr double kL1BytesPerCycle = 128;  // of one SM: a cache line a cycle

/// Where a rung stands: flop a byte, TFLOP/s.
struct Point {
    std::size_t rung;
    double intensity;
    double tflops;
};

std::vector<Point> points_of(const LadderReport& report) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < report.rungs.size(); ++i) {
        const auto speed = tflops_of(report, report.rungs[i]);
        const auto intensity = kernel_intensity(report, report.rungs[i]);
        if (speed && intensity && !report.rungs[i].same_as) points.push_back({i, *intensity, *speed});
    }
    return points;
}

struct Axes {
    LogScale x;
    LogScale y;
};

Axes axes_of(const LadderReport& report, const std::vector<Point>& points) {
    const auto [left, right] = std::ranges::minmax_element(points, {}, &Point::intensity);
    const auto lowest = std::ranges::min_element(points, {}, &Point::tflops);
    const double problem = report.roofline_of(MathUnit::fp32_cores).intensity;
    const double peak = report.roofline_of(MathUnit::tensor_cores).peak_flops / 1e12;
    return {LogScale(std::min(left->intensity, problem), std::max(right->intensity, problem), kRoofLeft, kRoofRight),
            LogScale(lowest->tflops, peak, kRoofBottom, kRoofTop)};
}

void draw_grid(Svg& svg, const Axes& axes) {
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
    svg.text((kRoofLeft + kRoofRight) / 2, kRoofBottom + 32, "flop a byte asked of global memory", "q m");
    svg.text(2, kRoofTop - 14, "TFLOP/s", "q");
}

/// From where the roof leaves the bottom, or the left, to where it meets `peak`.
void draw_memory_roof(Svg& svg, const Axes& axes, double terabytes, double peak, std::string_view name) {
    const double first = std::max(axes.x.least(), axes.y.least() / terabytes);
    const double last = std::min(axes.x.most(), peak / terabytes);
    if (first >= last) return;
    const int x = axes.x.pixel(first);
    const int y = axes.y.pixel(first * terabytes);
    svg.path(segment(x, y, axes.x.pixel(last), axes.y.pixel(last * terabytes)), "w");
    svg.text(x + 26, y - 14, name, "q");
}

void draw_peak(Svg& svg, const Axes& axes, const LadderReport& report, MathUnit unit) {
    const double peak = report.roofline_of(unit).peak_flops / 1e12;
    const int y = axes.y.pixel(peak);
    svg.path(segment(kRoofLeft, y, kRoofRight, y), "w");
    svg.text(kRoofRight - 4, y - 4, fmt::format("{} {:.0f}", to_string(unit), peak), "q e");
}

/// Where a kernel would stand that asked for every byte just once.
void draw_problem(Svg& svg, const Axes& axes, const LadderReport& report) {
    const int x = axes.x.pixel(report.roofline_of(MathUnit::fp32_cores).intensity);
    svg.path(segment(x, kRoofTop, x, kRoofBottom), "w");
    svg.text(x - 5, kRoofBottom - 8, "each byte once", "q e");
}

/// Numbers of the rungs, each beside its dot, and further to the right where another already stands.
class Labels {
public:
    void place(Svg& svg, int x, int y, const std::string& text) {
        Box label{x + kDot, y, kLabelWidth, kLabelHeight};
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

void draw_points(Svg& svg, const Axes& axes, const LadderReport& report, const std::vector<Point>& points) {
    Labels labels;
    for (const Point& point : points) {
        const RungReport& rung = report.rungs[point.rung];
        const int x = axes.x.pixel(point.intensity);
        const int y = axes.y.pixel(point.tflops);
        const Hint hint{fmt::format("{} {}\n{} TFLOP/s at {:.2f} flop a byte", point.rung, rung.rung.name,
                                    tflops_text(point.tflops), point.intensity),
                        std::string(rung.rung.name)};
        svg.box({x - kDot / 2, y - kDot / 2, kDot, kDot}, color_class(color_of(rung)) + " d", hint);
        labels.place(svg, x, y, std::to_string(point.rung));
    }
}

// ---- bars of a report -----------------------------------------------------------------------------------------------

std::string hint_of(const LadderReport& report, const RungReport& rung) {
    std::string hint = std::string(rung.rung.name);
    if (rung.time) hint += fmt::format("\n{} us", microseconds_text(rung.time->median_us));
    if (const auto share = share_of_peer(rung)) hint += fmt::format("\n{:.1f} % of cuBLASLt", 100 * *share);
    if (const auto share = share_of_peak(report, rung)) hint += fmt::format("\n{:.1f} % of peak", 100 * *share);
    return hint;
}

template <typename ValueOf, typename TextOf>
std::vector<Bar> bars_of(const LadderReport& report, const ValueOf& value_of, const TextOf& text_of) {
    std::vector<Bar> bars;
    for (std::size_t i = 0; i < report.rungs.size(); ++i) {
        const RungReport& rung = report.rungs[i];
        std::optional<double> value = value_of(rung);
        if (value && *value <= 0) value.reset();
        const std::string text = value                           ? text_of(*value)
                                 : rung.status == RungStatus::ok ? "none"
                                                                 : std::string(to_string(rung.status));
        bars.push_back({fmt::format("{} {}", i, rung.rung.name), value, text, hint_of(report, rung), color_of(rung)});
    }
    return bars;
}

std::optional<Bar> mark_of_peer(const LadderReport& report) {
    if (!report.peer.microseconds) return std::nullopt;
    const double speed = tflops(report.spec, *report.peer.microseconds);
    return Bar{"cuBLASLt", speed, tflops_text(speed), "", 0};
}

std::string speed_bars(const LadderReport& report) {
    const auto value = [&](const RungReport& rung) { return tflops_of(report, rung); };
    return bar_chart("TFLOP/s", bars_of(report, value, tflops_text), mark_of_peer(report));
}

std::string count_bars(const LadderReport& report, std::string_view title, std::uint64_t RungCounts::*count) {
    const auto value = [count](const RungReport& rung) {
        return rung.counts ? std::optional(static_cast<double>((*rung.counts).*count)) : std::nullopt;
    };
    const auto text = [](double number) { return fmt::format("{:.0f}", number); };
    return bar_chart(title, bars_of(report, value, text), std::nullopt);
}

}  // namespace

int color_of(const RungReport& rung) {
    constexpr int kCpu = 16;
    constexpr int kFp32 = 8;
    constexpr int kTensor = 10;
    if (!rung.kernel) return kCpu + 1;
    return rung.kernel->unit == MathUnit::tensor_cores ? kTensor : kFp32;
}

std::string ladder_bars(const LadderReport& report) {
    if (!report.emulated) return speed_bars(report);
    return count_bars(report, "instructions, by warps", &RungCounts::instructions) +
           count_bars(report, "sectors of global memory", &RungCounts::sectors) +
           count_bars(report, "wavefronts of shared memory", &RungCounts::wavefronts);
}

std::string ladder_roofline(const LadderReport& report) {
    const std::vector<Point> points = points_of(report);
    if (points.empty()) return {};
    const Axes axes = axes_of(report, points);
    const Roofline fp32 = report.roofline_of(MathUnit::fp32_cores);
    const double l1 = kL1BytesPerCycle * report.gpu.sm_count * report.gpu.clock_mhz * 1e6 / 1e12;
    const bool tensor = std::ranges::any_of(report.rungs, [](const RungReport& rung) {
        return rung.kernel && rung.kernel->unit == MathUnit::tensor_cores;
    });
    const MathUnit highest = tensor ? MathUnit::tensor_cores : MathUnit::fp32_cores;
    const double peak = report.roofline_of(highest).peak_flops / 1e12;

    Svg svg(kChartWidth, kRoofHeight);
    draw_grid(svg, axes);
    draw_memory_roof(svg, axes, fp32.dram_bytes / 1e12, peak, fmt::format("DRAM {:.1f} TB/s", fp32.dram_bytes / 1e12));
    draw_memory_roof(svg, axes, l1, peak, fmt::format("L1 {:.1f} TB/s", l1));
    draw_peak(svg, axes, report, MathUnit::fp32_cores);
    if (tensor) draw_peak(svg, axes, report, MathUnit::tensor_cores);
    draw_problem(svg, axes, report);
    draw_points(svg, axes, report, points);
    return svg.figure("A rung above the DRAM roof lives on the caches: several of its warps ask for the same bytes.",
                      true);
}

}  // namespace jitgemm::cli
