#include "generator/draw/bar_chart.hpp"

#include "generator/draw/palette.hpp"
#include "generator/draw/scales.hpp"
#include "generator/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace jitgemm {
namespace {

constexpr int kBarLeft = 190;
constexpr int kBarRight = kChartWidth - 74;  // room for the figure behind the longest bar
constexpr int kBarTop = 60;
constexpr int kDotSide = 9;
constexpr int kBarHeight = 17;
constexpr int kBarStep = 23;

/// Either scale, as far as bars need it.
struct Axis {
    std::function<int(double)> pixel;
    std::vector<double> ticks;
    bool from_zero = true;
};

std::optional<Axis> axis_of(const std::vector<Bar>& bars, const std::optional<Bar>& mark, BarScale kind) {
    std::vector<double> values;
    for (const Bar& bar : bars)
        if (bar.value) values.push_back(*bar.value);
    if (mark && mark->value) values.push_back(*mark->value);
    if (values.empty()) return std::nullopt;
    const auto [least, most] = std::ranges::minmax(values);
    if (kind == BarScale::linear) {
        const LinearScale scale(0, most, kBarLeft, kBarRight);
        return Axis{[scale](double value) { return scale.pixel(value); }, scale.ticks(), true};
    }
    const LogScale scale(least, most, kBarLeft, kBarRight);
    return Axis{[scale](double value) { return scale.pixel(value); }, scale.powers(), false};
}

void draw_bar(Svg& svg, const Bar& bar, const Axis& axis, int y) {
    svg.text(kBarLeft - 8, y + 13, bar.name, "e");
    int end = kBarLeft;
    if (bar.value) {
        end = std::max(kBarLeft + 1, axis.pixel(*bar.value));
        const Box mark = axis.from_zero ? Box{kBarLeft, y, end - kBarLeft, kBarHeight}
                                        : Box{end - kDotSide / 2, y + (kBarHeight - kDotSide) / 2, kDotSide, kDotSide};
        if (!axis.from_zero) svg.path(segment(kBarLeft, y + kBarHeight / 2, end, y + kBarHeight / 2), "g");
        svg.box(mark, color_class(bar.color) + (axis.from_zero ? "" : " d"), {bar.hint, bar.name});
    }
    svg.text(end + 9, y + 13, bar.text, bar.value ? "" : "q");
}

void draw_ticks(Svg& svg, const Axis& axis, int bottom) {
    for (const double tick : axis.ticks) {
        const int x = axis.pixel(tick);
        svg.path(segment(x, kBarTop - 6, x, bottom), "g");
        svg.text(x, kBarTop - 10, power_text(tick), "q m");
    }
}

}  // namespace

std::string bar_chart(std::string_view title, std::string_view axis_name, const std::vector<Bar>& bars,
                      const std::optional<Bar>& mark, BarScale scale) {
    const int bottom = kBarTop + static_cast<int>(bars.size()) * kBarStep;
    Svg svg(kChartWidth, bottom + 18);
    svg.text(0, 14, title, "h");
    const std::optional<Axis> axis = axis_of(bars, mark, scale);
    if (!axis) return {};
    svg.text(kBarLeft, 32, fmt::format("{}{}", axis_name, axis->from_zero ? "" : ", log scale"), "q");
    draw_ticks(svg, *axis, bottom);
    for (std::size_t i = 0; i < bars.size(); ++i)
        draw_bar(svg, bars[i], *axis, kBarTop + static_cast<int>(i) * kBarStep);
    if (mark && mark->value) {
        const int x = axis->pixel(*mark->value);
        svg.path(segment(x, kBarTop - 6, x, bottom), "w");
        svg.text(x, bottom + 13, fmt::format("{} {}", mark->name, mark->text), "q m");
    }
    return svg.figure("", true);
}

}  // namespace jitgemm
