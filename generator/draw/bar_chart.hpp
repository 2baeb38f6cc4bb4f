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

/// Powers of ten, or from zero on.
enum class BarScale : std::uint8_t { logarithmic, linear };

/// Bars below each other as an SVG figure; `mark`, where there is one, is a line across them all.
[[nodiscard]] std::string bar_chart(std::string_view title, const std::vector<Bar>& bars,
                                    const std::optional<Bar>& mark, BarScale scale = BarScale::logarithmic);

}  // namespace jitgemm
