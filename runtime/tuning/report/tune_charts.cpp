#include "runtime/tuning/report/tune_charts.hpp"

#include "generator/base/roofline.hpp"
#include "generator/draw/bar_chart.hpp"
#include "generator/draw/legend.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/roofline_chart.hpp"
#include "generator/draw/scales.hpp"
#include "generator/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr int kLeft = 190;  // of rows with names
constexpr int kRight = kChartWidth - 24;
constexpr int kTop = 44;
constexpr int kRowStep = 21;
constexpr int kDot = 7;
constexpr int kOurs = 0;  // of the palette
constexpr int kPeers = 1;
constexpr int kMedian = kPeers;
constexpr std::size_t kMostColors = 12;  // problems that are told apart by colour
constexpr double kMostBehind = 3;        // times the best's time: what is slower stands at the edge

Box dot(int x, int y) { return {x - kDot / 2, y - kDot / 2, kDot, kDot}; }

/// Lines and numbers of a scale above rows.
void draw_columns(Svg& svg, const LinearScale& scale, int bottom) {
    for (const double tick : scale.ticks()) {
        const int x = scale.pixel(tick);
        svg.path(segment(x, kTop - 6, x, bottom), "g");
        svg.text(x, kTop - 10, fmt::format("{:g}", tick), "q m");
    }
}

/// "0.95 to 1", "3 and more".
std::string range_text(const SpeedupBin& bin) {
    if (std::isinf(bin.most)) return fmt::format("{:g} and more", bin.least);
    return bin.least == 0 ? fmt::format("below {:g}", bin.most) : fmt::format("{:g} to {:g}", bin.least, bin.most);
}

int color_over(std::string_view over) { return over == "cuBLASLt" ? kPeers : kOurs; }

/// A device's reading as a number.
struct Quantity {
    std::string_view name;
    std::function<double(const DeviceReading&)> value;
};

constexpr int kLineHeight = 96;
constexpr int kLineLeft = 56;

void draw_line(Svg& svg, const std::vector<DeviceReading>& readings, const Quantity& quantity, int top) {
    double least = quantity.value(readings.front());
    double most = least;
    for (const DeviceReading& reading : readings) {
        least = std::min(least, quantity.value(reading));
        most = std::max(most, quantity.value(reading));
    }
    const LinearScale x(0, static_cast<double>(readings.size() - 1), kLineLeft, kRight);
    const LinearScale y(least - 0.02 * most, most * 1.02 + 1, top + kLineHeight - 18, top + 20);
    svg.text(0, top + 10, quantity.name, "h");
    for (const double tick : y.ticks()) {
        svg.path(segment(kLineLeft, y.pixel(tick), kRight, y.pixel(tick)), "g");
        svg.text(kLineLeft - 6, y.pixel(tick) + 4, fmt::format("{:g}", tick), "q e");
    }
    std::string points;
    for (std::size_t i = 0; i < readings.size(); ++i)
        points += fmt::format("{}{},{}", i == 0 ? "" : " ", x.pixel(static_cast<double>(i)),
                              y.pixel(quantity.value(readings[i])));
    svg.path(points, "w");
}

}  // namespace

std::string spread_chart(const std::vector<ProblemFigures>& problems, Speedup speedup, std::string_view over) {
    std::vector<Bar> bars;
    for (const SpeedupBin& bin : speedup_bins(problems, speedup))
        bars.push_back(
            {range_text(bin), bin.problems > 0 ? std::optional(static_cast<double>(bin.problems)) : std::nullopt,
             std::to_string(bin.problems),
             fmt::format("{} problems at {} times {}", bin.problems, range_text(bin), over), color_over(over)});
    return bar_chart(fmt::format("Winner's speed over {}", over), "problems with this speed-up", bars, std::nullopt,
                     BarScale::linear);
}

std::string speedup_chart(const std::vector<ProblemFigures>& problems, Speedup speedup, std::string_view over) {
    std::vector<Bar> bars;
    for (const ProblemFigures& problem : problems) {
        const std::optional<double> value = (problem.*speedup)();
        const std::string text = value                 ? fmt::format("{:.2f}", *value)
                                 : problem.best_us > 0 ? "not measured"
                                                       : "no time";
        bars.push_back({shape_line(problem.spec), value, text,
                        value ? fmt::format("{} times {}", text, over) : problem.untimed_reason, color_over(over)});
    }
    return bar_chart(fmt::format("Winner's speed over {}", over), fmt::format("times the speed of {}", over), bars,
                     Bar{"equal", 1.0, "", "", 0}, BarScale::linear);
}

std::string winners_roofline(const std::vector<ProblemFigures>& problems, const GpuModel& gpu) {
    RooflineChart chart{
        .x_axis = "flop per byte of A, B, C and D, each moved once",
        .caption = "Each mark is a problem. If it lies above the DRAM roof, its operands stayed in L2."};
    for (const ProblemFigures& problem : problems) {
        if (problem.best_us <= 0) continue;
        const bool tensor = problem.spec.a != DataType::f32;
        const Roofline line =
            roofline(resolved(problem.spec), gpu,
                     fastest_instruction(*gpu.arch, tensor ? MathUnit::tensor_cores : MathUnit::fp32_cores));
        const double tflops = flops(problem.spec) / problem.best_us / 1e6;
        if (line.intensity <= 0 || tflops <= 0) continue;
        chart.points.push_back(
            {"",
             line.intensity,
             tflops,
             tensor ? kOurs : kMedian,
             {fmt::format("{}\n{:.1f} TFLOP/s at {:.1f} flop per byte\n{:.0f} % of what its roof allows",
                          shape_line(problem.spec), tflops, line.intensity, 100e12 * tflops / line.attainable_flops),
              shape_line(problem.spec)}});
        const PeakRoof peak{line.peak_flops / 1e12,
                            fmt::format("{} {:.0f} TFLOP/s", to_string(line.unit()), line.peak_flops / 1e12)};
        if (std::ranges::find(chart.peaks, peak.name, &PeakRoof::name) == chart.peaks.end())
            chart.peaks.push_back(peak);
    }
    const double terabytes = gpu.dram_bytes_per_second / 1e12;
    if (terabytes > 0) chart.memory.push_back({terabytes, fmt::format("DRAM {:.1f} TB/s", terabytes)});
    const std::string figure = roofline_chart(chart);
    if (figure.empty()) return {};
    return "<div>" + figure + legend({{kOurs, "on tensor cores"}, {kMedian, "f32, on FP32 cores"}}) + "</div>\n";
}

std::string distribution_chart(const std::vector<ProblemFigures>& problems) {
    const int bottom = kTop + static_cast<int>(problems.size()) * kRowStep;
    const LinearScale scale(1, kMostBehind, kLeft, kRight);
    Svg svg(kChartWidth, bottom + 4);
    svg.text(0, 14, "Time of each candidate", "h");
    svg.text(kLeft, 14, "times the best of its problem", "q");
    draw_columns(svg, scale, bottom);
    int y = kTop + kRowStep / 2;
    bool any = false;
    for (const ProblemFigures& problem : problems) {
        svg.text(kLeft - 10, y + 4, shape_line(problem.spec), "e");
        for (const TimedCandidate& candidate : problem.timed) {
            const std::string hint =
                fmt::format("{:.2f} times the best: {:.2f} us\n{}", candidate.relative, candidate.us, candidate.kernel);
            svg.box(dot(scale.pixel(candidate.relative), y), color_class(kOurs) + " d", {hint, candidate.kernel});
            any = true;
        }
        y += kRowStep;
    }
    return any ? svg.figure("Candidates slower than three times the best stand at the edge.", true) : std::string();
}

std::string prediction_chart(const std::vector<ProblemFigures>& problems, std::string_view time_source) {
    std::vector<std::pair<const ProblemFigures*, const TimedCandidate*>> points;
    std::vector<double> times;
    for (const ProblemFigures& problem : problems) {
        for (const TimedCandidate& candidate : problem.timed) {
            if (candidate.predicted_us <= 0) continue;
            points.emplace_back(&problem, &candidate);
            times.insert(times.end(), {candidate.predicted_us, candidate.us});
        }
    }
    if (points.empty()) return {};
    constexpr int kBottom = 440;
    constexpr int kBegin = 56;
    const auto [least, most] = std::ranges::minmax(times);
    const LogScale x(least, most, kBegin, kRight);
    const LogScale y(least, most, kBottom, kTop);
    const bool told_apart = problems.size() <= kMostColors;
    Svg svg(kChartWidth, kBottom + 40);
    svg.text(0, 14, fmt::format("{} µs against predicted µs", time_source), "h");
    svg.text(0, 32, fmt::format("{} µs, log scale", time_source), "q");
    for (const double power : x.powers()) {
        svg.path(segment(x.pixel(power), kTop, x.pixel(power), kBottom), "g");
        svg.path(segment(kBegin, y.pixel(power), kRight, y.pixel(power)), "g");
        svg.text(x.pixel(power), kBottom + 16, power_text(power), "q m");
        svg.text(kBegin - 6, y.pixel(power) + 4, power_text(power), "q e");
    }
    svg.path(segment(x.pixel(x.least()), y.pixel(x.least()), x.pixel(x.most()), y.pixel(x.most())), "w");
    svg.text((kBegin + kRight) / 2, kBottom + 33, "predicted µs, log scale", "q m");
    for (const auto& [problem, candidate] : points) {
        const std::string shape = shape_line(problem->spec);
        const int color = told_apart ? static_cast<int>(problem - problems.data()) : kOurs;
        svg.box(dot(x.pixel(candidate->predicted_us), y.pixel(candidate->us)), color_class(color) + " d",
                {fmt::format("{}\n{:.2f} us {}, {:.2f} us predicted\n{}", shape, candidate->us, time_source,
                             candidate->predicted_us, candidate->kernel),
                 shape});
    }
    std::vector<ColorMeaning> key;
    for (std::size_t i = 0; told_apart && i < problems.size(); ++i)
        if (!problems[i].timed.empty()) key.push_back({static_cast<int>(i), shape_line(problems[i].spec)});
    return "<div>" +
           svg.figure("Each mark is a candidate. Above the line, the model predicted too short a time.", true) +
           legend(key) + "</div>\n";
}

std::string effect_chart(const ParameterEffect& effect) {
    double most = 1.05;
    for (const ValueEffect& value : effect.values) most = std::max(most, std::min(value.median, kMostBehind));
    const int bottom = kTop + static_cast<int>(effect.values.size()) * kRowStep;
    const LinearScale scale(1, most, kLeft, kRight);
    Svg svg(kChartWidth, bottom + 4);
    svg.text(0, 14, fmt::format("{} ({})", effect.parameter, effect.family), "h");
    svg.text(kRight, 14, "times the problem's best", "q e");
    draw_columns(svg, scale, bottom);
    int y = kTop + kRowStep / 2;
    for (const ValueEffect& value : effect.values) {
        svg.text(kLeft - 10, y + 4, value.value, "e");
        svg.path(segment(scale.pixel(value.best), y, scale.pixel(value.median), y), "w");
        const std::string hint =
            fmt::format("{} = {}: the best {:.3f}, the median {:.3f} times the problem's best\n{} kernels, {} problems",
                        effect.parameter, value.value, value.best, value.median, value.kernels, value.problems);
        svg.box(dot(scale.pixel(value.median), y), color_class(kMedian) + " d", {hint, value.value});
        svg.box(dot(scale.pixel(value.best), y), color_class(kOurs) + " d", {hint, value.value});
        y += kRowStep;
    }
    return svg.figure("", true);
}

std::string effect_legend() {
    return legend({{kOurs, "the best kernel with this value"}, {kMedian, "the median kernel with it"}});
}

std::string readings_chart(const std::vector<DeviceReading>& readings) {
    const bool known = std::ranges::any_of(readings, [](const DeviceReading& one) { return one.sm_clock_mhz > 0; });
    if (!known) return {};
    const std::vector<Quantity> quantities{
        {"SM clock, MHz", [](const DeviceReading& one) { return static_cast<double>(one.sm_clock_mhz); }},
        {"power, W", [](const DeviceReading& one) { return one.power_watts; }},
        {"temperature, °C", [](const DeviceReading& one) { return static_cast<double>(one.temperature_c); }}};
    Svg svg(kChartWidth, static_cast<int>(quantities.size()) * kLineHeight);
    int top = 0;
    for (const Quantity& quantity : quantities) {
        draw_line(svg, readings, quantity, top);
        top += kLineHeight;
    }
    return svg.figure("Each point follows a round of all kernels.", true);
}

}  // namespace jitgemm::tuning
