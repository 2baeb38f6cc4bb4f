#include "runtime/cli/ladder_charts.hpp"

#include "generator/draw/palette.hpp"
#include "generator/draw/svg.hpp"
#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jitgemm::cli {
namespace {

constexpr int kWidth = 560;

/// Powers of ten that hold a chart's values between them, laid over pixels.
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

std::string line(int x1, int y1, int x2, int y2) { return fmt::format("{},{} {},{}", x1, y1, x2, y2); }

std::string power_text(double power) { return power < 1e6 ? fmt::format("{:g}", power) : fmt::format("{:.0e}", power); }

// ---- bars -----------------------------------------------------------------------------------------------------------

constexpr int kBarLeft = 190;
constexpr int kBarRight = kWidth - 74;  // room for the figure behind the longest bar
constexpr int kBarTop = 44;
constexpr int kBarHeight = 17;
constexpr int kBarStep = 23;

std::optional<LogScale> scale_of(const std::vector<Bar>& bars, const std::optional<Bar>& mark) {
    std::vector<double> values;
    for (const Bar& bar : bars)
        if (bar.value) values.push_back(*bar.value);
    if (mark && mark->value) values.push_back(*mark->value);
    if (values.empty()) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(values);
    return LogScale(least / 1.5, most, kBarLeft, kBarRight);  // the shortest bar is a bar, too
}

void draw_bar(Svg& svg, const Bar& bar, const LogScale& scale, int y) {
    svg.text(kBarLeft - 8, y + 13, bar.name, "e");
    int end = kBarLeft;
    if (bar.value) {
        end = std::max(kBarLeft + 1, scale.pixel(*bar.value));
        svg.box({kBarLeft, y, end - kBarLeft, kBarHeight}, color_class(bar.color), {bar.hint, bar.name});
    }
    svg.text(end + 6, y + 13, bar.text, bar.value ? "" : "q");
}

void draw_powers(Svg& svg, const LogScale& scale, int bottom) {
    for (const double power : scale.powers()) {
        const int x = scale.pixel(power);
        svg.path(line(x, kBarTop - 6, x, bottom), "g");
        svg.text(x, kBarTop - 10, power_text(power), "q m");
    }
}

// ---- roofline -------------------------------------------------------------------------------------------------------

constexpr int kRoofHeight = 400;
constexpr int kRoofLeft = 46;
constexpr int kRoofRight = kWidth - 24;
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
        svg.path(line(x, kRoofTop, x, kRoofBottom), "g");
        svg.text(x, kRoofBottom + 15, power_text(power), "q m");
    }
    for (const double power : axes.y.powers()) {
        const int y = axes.y.pixel(power);
        svg.path(line(kRoofLeft, y, kRoofRight, y), "g");
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
    svg.path(line(x, y, axes.x.pixel(last), axes.y.pixel(last * terabytes)), "w");
    svg.text(x + 26, y - 14, name, "q");
}

void draw_peak(Svg& svg, const Axes& axes, const LadderReport& report, MathUnit unit) {
    const double peak = report.roofline_of(unit).peak_flops / 1e12;
    const int y = axes.y.pixel(peak);
    svg.path(line(kRoofLeft, y, kRoofRight, y), "w");
    svg.text(kRoofRight - 4, y - 4, fmt::format("{} {:.0f}", to_string(unit), peak), "q e");
}

/// Where a kernel would stand that asked for every byte just once.
void draw_problem(Svg& svg, const Axes& axes, const LadderReport& report) {
    const int x = axes.x.pixel(report.roofline_of(MathUnit::fp32_cores).intensity);
    svg.path(line(x, kRoofTop, x, kRoofBottom), "w");
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

std::string bar_chart(std::string_view title, const std::vector<Bar>& bars, const std::optional<Bar>& mark) {
    const int bottom = kBarTop + static_cast<int>(bars.size()) * kBarStep;
    Svg svg(kWidth, bottom + 18);
    svg.text(0, 14, title, "h");
    const std::optional<LogScale> scale = scale_of(bars, mark);
    if (!scale) return {};
    draw_powers(svg, *scale, bottom);
    for (std::size_t i = 0; i < bars.size(); ++i)
        draw_bar(svg, bars[i], *scale, kBarTop + static_cast<int>(i) * kBarStep);
    if (mark && mark->value) {
        const int x = scale->pixel(*mark->value);
        svg.path(line(x, kBarTop - 6, x, bottom), "w");
        svg.text(x, bottom + 13, fmt::format("{} {}", mark->name, mark->text), "q m");
    }
    return svg.figure("", true);
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

    Svg svg(kWidth, kRoofHeight);
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
