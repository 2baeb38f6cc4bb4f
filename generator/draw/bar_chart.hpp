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
    std::string text;             ///< stands after the bar
    std::string hint;             ///< shown when the pointer is on it
    int color = 0;                ///< index into the palette
};

/// Linear values are bars from zero on. Logarithmic ones are dots on powers of ten, where lengths would mean nothing.
enum class BarScale : std::uint8_t { logarithmic, linear };

/// Bars below each other as an SVG figure. `axis` names the quantity and its unit; a logarithmic axis says so itself.
/// `mark` is a line across all bars. The text is empty if no bar has a value.
[[nodiscard]] std::string bar_chart(std::string_view title, std::string_view axis, const std::vector<Bar>& bars,
                                    const std::optional<Bar>& mark, BarScale scale = BarScale::logarithmic);

}  // namespace jitgemm
