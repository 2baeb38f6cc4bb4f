// The calculator's functions: a table row each.

#include "generator/layout/layout_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

using Parameters = std::span<const std::int64_t>;
using Arguments = std::span<const LayoutValue>;
using Function = LayoutValue (*)(Parameters, Arguments);

LayoutValue integer(std::int64_t value) { return LayoutValue::Variant(IntTuple(value)); }

std::int64_t rank_of(const LayoutValue& value) {
    return value.is_int_tuple() ? value.as_int_tuple().rank() : value.as_composed().layout().rank();
}

std::int64_t depth_of(const LayoutValue& value) {
    return depth(value.is_int_tuple() ? value.as_int_tuple() : value.as_composed().layout().shape());
}

using OfLayout = Layout (*)(const Layout&);
using OfTiler = Layout (*)(const Layout&, const Tiler&);
using OfLayouts = Layout (*)(const Layout&, const Layout&);

template <OfLayout function>
LayoutValue unary(Parameters, Arguments arguments) {
    return function(arguments[0].as_layout());
}

/// Swizzles stay outside of what is done to the layout within.
template <OfTiler function>
LayoutValue with_tiler(Parameters, Arguments arguments) {
    const ComposedLayout composed = arguments[0].as_composed();
    return LayoutValue::Variant(composed.around(function(composed.layout(), arguments[1].as_tiler())));
}

template <OfLayouts function>
LayoutValue binary(Parameters, Arguments arguments) {
    return function(arguments[0].as_layout(), arguments[1].as_layout());
}

LayoutValue coalesce_value(Parameters, Arguments arguments) {
    const ComposedLayout composed = arguments[0].as_composed();
    const Layout& layout = composed.layout();
    return LayoutValue::Variant(
        composed.around(arguments.size() == 1 ? coalesce(layout) : coalesce(layout, arguments[1].as_int_tuple())));
}

LayoutValue complement_value(Parameters, Arguments arguments) {
    const Layout layout = arguments[0].as_layout();
    return complement(layout, arguments.size() == 1 ? 1 : product(arguments[1].as_int_tuple()));
}

LayoutValue make_layout_value(Parameters, Arguments arguments) {
    std::vector<Layout> modes;
    for (const LayoutValue& argument : arguments) modes.push_back(argument.as_layout());
    return make_layout(modes);
}

LayoutValue get_value(Parameters parameters, Arguments arguments) {
    const ComposedLayout composed = arguments[0].as_composed();
    return LayoutValue::Variant(composed.around(composed.layout().mode(static_cast<int>(parameters[0]))));
}

std::int64_t positive(std::int64_t factor) {
    if (factor < 1) throw LayoutError(fmt::format("the factor {} is below 1", factor));
    return factor;
}

template <Layout (*function)(const Layout&, std::int64_t)>
LayoutValue by_factor(Parameters parameters, Arguments arguments) {
    return function(arguments[0].as_layout(), positive(parameters[0]));
}

LayoutValue size_value(Parameters, Arguments arguments) { return integer(arguments[0].as_composed().size()); }

LayoutValue cosize_value(Parameters, Arguments arguments) { return integer(arguments[0].as_composed().cosize()); }

LayoutValue rank_value(Parameters, Arguments arguments) { return integer(rank_of(arguments[0])); }

LayoutValue depth_value(Parameters, Arguments arguments) { return integer(depth_of(arguments[0])); }

LayoutValue composition_value(Parameters, Arguments arguments) { return compose(arguments[0], arguments[1]); }

LayoutValue slice_value(Parameters, Arguments arguments) { return apply_layout(arguments[0], arguments[1]); }

LayoutValue tiled_value(Parameters, Arguments arguments) {
    const ComposedLayout block = arguments[0].as_composed();
    return LayoutValue::Variant(block.around(tile_to_shape(block.layout(), arguments[1].as_int_tuple())));
}

LayoutValue coordinate_value(Parameters, Arguments arguments) {
    const auto shape = arguments[1].as_composed().layout().shape();
    return LayoutValue::Variant(index_to_coordinate(arguments[0].as_integer(), shape));
}

constexpr std::size_t kAny = 32;

constexpr std::array kFunctions{
    LayoutFunction{"size", "layout", 0, 1, 1, size_value, "elements of the domain"},
    LayoutFunction{"cosize", "layout", 0, 1, 1, cosize_value, "one more than the largest value, before a swizzle"},
    LayoutFunction{"rank", "layout", 0, 1, 1, rank_value, "modes on the top level"},
    LayoutFunction{"depth", "layout", 0, 1, 1, depth_value, "levels of nesting"},
    LayoutFunction{"coalesce", "layout[, profile]", 0, 1, 2, coalesce_value,
                   "as few modes as possible; by mode with a profile"},
    LayoutFunction{"filter", "layout", 0, 1, 1, unary<filter>, "without modes of stride 0 or extent 1"},
    LayoutFunction{"flatten", "layout", 0, 1, 1, unary<flatten>, "all modes on one level"},
    LayoutFunction{"composition", "layout, tiler", 0, 2, 2, composition_value, "the layout i -> a(b(i)); also `a o b`"},
    LayoutFunction{"complement", "layout[, cosize]", 0, 1, 2, complement_value,
                   "the layout's complement within that many values"},
    LayoutFunction{"right_inverse", "layout", 0, 1, 1, unary<right_inverse>, "r with layout(r(i)) = i"},
    LayoutFunction{"left_inverse", "layout", 0, 1, 1, unary<left_inverse>, "l with l(layout(i)) = i"},
    LayoutFunction{"logical_divide", "layout, tiler", 0, 2, 2, with_tiler<logical_divide>,
                   "(tile, rest), mode by mode with a tuple"},
    LayoutFunction{"zipped_divide", "layout, tiler", 0, 2, 2, with_tiler<zipped_divide>, "((tile,…),(rest,…))"},
    LayoutFunction{"tiled_divide", "layout, tiler", 0, 2, 2, with_tiler<tiled_divide>, "((tile,…),rest,…)"},
    LayoutFunction{"flat_divide", "layout, tiler", 0, 2, 2, with_tiler<flat_divide>, "(tile,…,rest,…)"},
    LayoutFunction{"logical_product", "layout, tiler", 0, 2, 2, with_tiler<logical_product>, "(block, repetition)"},
    LayoutFunction{"zipped_product", "layout, tiler", 0, 2, 2, with_tiler<zipped_product>,
                   "((block,…),(repetition,…))"},
    LayoutFunction{"tiled_product", "layout, tiler", 0, 2, 2, with_tiler<tiled_product>, "((block,…),repetition,…)"},
    LayoutFunction{"flat_product", "layout, tiler", 0, 2, 2, with_tiler<flat_product>, "(block,…,repetition,…)"},
    LayoutFunction{"blocked_product", "block, layout", 0, 2, 2, binary<blocked_product>, "blocks side by side"},
    LayoutFunction{"raked_product", "block, layout", 0, 2, 2, binary<raked_product>, "blocks interleaved"},
    LayoutFunction{"tile_to_shape", "layout, shape", 0, 2, 2, tiled_value,
                   "the block repeated until it covers the shape"},
    LayoutFunction{"make_layout", "layout, …", 0, 1, kAny, make_layout_value, "a layout of these modes"},
    LayoutFunction{"slice", "layout, coordinate", 0, 2, 2, slice_value,
                   "the modes marked by _; also `layout(coordinate)`"},
    LayoutFunction{"idx2crd", "index, shape", 0, 2, 2, coordinate_value, "the coordinate of an index"},
    LayoutFunction{"get", "layout", 1, 1, 1, get_value, "one mode: get<0>(layout)"},
    LayoutFunction{"upcast", "layout", 1, 1, 1, by_factor<upcast>,
                   "n neighbours become one element: upcast<2>(layout)"},
    LayoutFunction{"downcast", "layout", 1, 1, 1, by_factor<downcast>, "every element becomes n: downcast<2>(layout)"},
};

}  // namespace

std::span<const LayoutFunction> layout_functions() { return kFunctions; }

const LayoutFunction* find_layout_function(std::string_view name) {
    const auto found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                    [&](const LayoutFunction& function) { return function.name == name; });
    return found == kFunctions.end() ? nullptr : &*found;
}

LayoutValue compose(const LayoutValue& a, const LayoutValue& b) {
    if (const auto* swizzle = std::get_if<Swizzle>(&a.variant())) {
        const ComposedLayout inner = b.as_composed();
        if (inner.swizzle())
            throw LayoutError(fmt::format("{} o {}: only one swizzle composes", to_string(a), to_string(b)));
        return LayoutValue::Variant(ComposedLayout(*swizzle, inner.offset(), inner.layout()));
    }
    const ComposedLayout outer = a.as_composed();
    return LayoutValue::Variant(outer.around(composition(outer.layout(), b.as_tiler())));
}

LayoutValue apply_layout(const LayoutValue& layout, const LayoutValue& coordinate) {
    const IntTuple at = coordinate.as_int_tuple();
    if (const auto* swizzle = std::get_if<Swizzle>(&layout.variant())) return integer((*swizzle)(at.value()));
    const ComposedLayout composed = layout.as_composed();
    if (!has_underscore(at)) return integer(composed(at));
    const Slice sliced = slice(composed.layout(), at);
    if (!composed.swizzle()) return sliced.layout;
    return LayoutValue::Variant(
        ComposedLayout(*composed.swizzle(), checked_sum(composed.offset(), sliced.offset), sliced.layout));
}

}  // namespace jitgemm
