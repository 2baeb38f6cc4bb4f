#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A bar of a chart.
struct Bar {
    std::string name;
    std::optional<double> value;  ///< positive; else there is no bar, but `text` says why
    std::string text;             ///< behind the bar
    std::string hint;             ///< when pointed at
    int color = 0;                ///< of the palette
};

/// From zero on, as bars; or powers of ten, where lengths would mean nothing, as dots.
enum class BarScale : std::uint8_t { logarithmic, linear };

/// Bars below each other as an SVG figure; `axis` names the quantity and its unit, a logarithmic one says so by itself;
/// `mark`, where there is one, is a line across them all. Empty where no bar has a value.
[[nodiscard]] std::string bar_chart(std::string_view title, std::string_view axis, const std::vector<Bar>& bars,
                                    const std::optional<Bar>& mark, BarScale scale = BarScale::logarithmic);

}  // namespace jitgemm
