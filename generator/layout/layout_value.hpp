#pragma once

#include "generator/layout/composed_layout.hpp"

#include <string>
#include <variant>
#include <vector>

namespace jitgemm {

/// The value of a part of a layout expression: an IntTuple (also an integer or a coordinate), a layout, a swizzle, or a
/// tuple with a layout in it. The as_ functions convert it to the type that a function's argument needs; they throw
/// LayoutError.
class LayoutValue {
public:
    using Tuple = std::vector<LayoutValue>;
    using Variant = std::variant<IntTuple, ComposedLayout, Swizzle, Tuple>;

    LayoutValue(Variant value) : value_(std::move(value)) {}                   // NOLINT(google-explicit-constructor)
    LayoutValue(Layout layout) : value_(ComposedLayout(std::move(layout))) {}  // NOLINT(google-explicit-constructor)
    /// An IntTuple if all parts are IntTuples, else a tuple.
    static LayoutValue tuple_of(Tuple parts);

    [[nodiscard]] const Variant& variant() const { return value_; }

    [[nodiscard]] bool is_int_tuple() const { return std::holds_alternative<IntTuple>(value_); }
    [[nodiscard]] IntTuple as_int_tuple() const;
    [[nodiscard]] std::int64_t as_integer() const;
    /// A shape is its column-major layout; a tuple of layouts is the layout of these modes.
    [[nodiscard]] Layout as_layout() const;
    [[nodiscard]] ComposedLayout as_composed() const;  ///< the same, swizzled or not
    [[nodiscard]] Tiler as_tiler() const;

private:
    Variant value_;
};

[[nodiscard]] std::string to_string(const LayoutValue& value);

}  // namespace jitgemm
