#include "runtime/tuning/tune_charts.hpp"

#include "generator/draw/bar_chart.hpp"
#include "generator/draw/palette.hpp"
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
constexpr double kMostBehind = 3;  // times the best's time: what is slower stands at the edge

Box dot(int x, int y) { return {x - kDot / 2, y - kDot / 2, kDot, kDot}; }

/// Lines and numbers of a scale above rows.
void draw_columns(Svg& svg, const LinearScale& scale, int bottom) {
    for (const double tick : scale.ticks()) {
        const int x = scale.pixel(tick);
        svg.path(segment(x, kTop - 6, x, bottom), "g");
        svg.text(x, kTop - 10, fmt::format("{:g}", tick), "q m");
    }
}

Bar speedup_bar(std::string name, std::optional<double> speedup, std::string_view over, int color) {
    const std::string text = speedup ? fmt::format("{:.2f}", *speedup) : "–";
    return {std::move(name), speedup, text, speedup ? fmt::format("{} times {}", text, over) : "", color};
}

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

std::string speedup_chart(const std::vector<ProblemFigures>& problems) {
    std::vector<Bar> bars;
    for (const ProblemFigures& problem : problems) {
        bars.push_back(speedup_bar(shape_line(problem.spec), problem.over_heuristic(), "the heuristic's speed", kOurs));
        if (problem.over_cublaslt())
            bars.push_back(speedup_bar("cuBLASLt", problem.over_cublaslt(), "cuBLASLt's speed", kPeers));
    }
    return bar_chart("speed of the winner over the heuristic's kernel, and over cuBLASLt", bars,
                     Bar{"equal", 1.0, "", "", 0}, BarScale::linear);
}

std::string distribution_chart(const std::vector<ProblemFigures>& problems) {
    const int bottom = kTop + static_cast<int>(problems.size()) * kRowStep;
    const LinearScale scale(1, kMostBehind, kLeft, kRight);
    Svg svg(kChartWidth, bottom + 4);
    svg.text(0, 14, "time of each candidate, relative to the best of its problem", "h");
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
    return any ? svg.figure("What is slower than three times the best stands at the edge.", true) : std::string();
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
    Svg svg(kChartWidth, kBottom + 40);
    svg.text(0, 14, fmt::format("{} µs against predicted µs", time_source), "h");
    for (const double power : x.powers()) {
        svg.path(segment(x.pixel(power), kTop, x.pixel(power), kBottom), "g");
        svg.path(segment(kBegin, y.pixel(power), kRight, y.pixel(power)), "g");
        svg.text(x.pixel(power), kBottom + 16, power_text(power), "q m");
        svg.text(kBegin - 6, y.pixel(power) + 4, power_text(power), "q e");
    }
    svg.path(segment(x.pixel(x.least()), y.pixel(x.least()), x.pixel(x.most()), y.pixel(x.most())), "w");
    svg.text((kBegin + kRight) / 2, kBottom + 33, "predicted", "q m");
    for (const auto& [problem, candidate] : points) {
        const std::string shape = shape_line(problem->spec);
        const auto color = static_cast<int>(problem - problems.data());
        svg.box(dot(x.pixel(candidate->predicted_us), y.pixel(candidate->us)), color_class(color) + " d",
                {fmt::format("{}\n{:.2f} us {}, {:.2f} us predicted\n{}", shape, candidate->us, time_source,
                             candidate->predicted_us, candidate->kernel),
                 shape});
    }
    return svg.figure("A colour a problem; above the line the model was too hopeful.", true);
}

std::string effect_chart(const ParameterEffect& effect) {
    double most = 1.05;
    for (const ValueEffect& value : effect.values) most = std::max(most, std::min(value.median, kMostBehind));
    const int bottom = kTop + static_cast<int>(effect.values.size()) * kRowStep;
    const LinearScale scale(1, most, kLeft, kRight);
    Svg svg(kChartWidth, bottom + 4);
    svg.text(0, 14, fmt::format("{} ({})", effect.parameter, effect.family), "h");
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
    return svg.figure("After each turn through the kernels, from the first to the last.", true);
}

}  // namespace jitgemm::tuning
