#pragma once

#include "generator/layout/layout_value.hpp"

#include <span>
#include <string_view>

namespace jitgemm {

/// The value of an expression such as `logical_divide(1000:1, 128:1)` or `Swizzle<3,3,3> o (8,64):(64,1)`.
///
/// - `(4,8):(8,1)` is a layout, `(4,8)` its column-major one where a layout is needed, `_` a mode left as it is.
/// - `a o b` composes; `NAME(…)` calls a function of layout_functions(), `NAME<2>(…)` with integer parameters.
/// - a coordinate in parentheses behind a layout applies it, or slices where it has underscores: `(4,8):(8,1)(2,_)`.
///
/// Throws LayoutError with the column (from 1) where the text is malformed, or of the function whose rule was broken.
[[nodiscard]] LayoutValue evaluate_layout_expression(std::string_view expression);

/// A function of the calculator.
struct LayoutFunction {
    std::string_view name;
    std::string_view arguments;  ///< "layout, tiler": as help shows them
    int parameters;              ///< integers between < and >
    std::size_t fewest;          ///< arguments
    std::size_t most;
    LayoutValue (*apply)(std::span<const std::int64_t> parameters, std::span<const LayoutValue> arguments);
    std::string_view what;  ///< one line
};
[[nodiscard]] std::span<const LayoutFunction> layout_functions();
[[nodiscard]] const LayoutFunction* find_layout_function(std::string_view name);

/// a ∘ b of values: swizzles compose with layouts, and layouts with layouts and tilers.
[[nodiscard]] LayoutValue compose(const LayoutValue& a, const LayoutValue& b);
/// A layout at a coordinate: an integer, or the slice if the coordinate has underscores.
[[nodiscard]] LayoutValue apply_layout(const LayoutValue& layout, const LayoutValue& coordinate);

}  // namespace jitgemm
