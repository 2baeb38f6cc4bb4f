#include "generator/layout/layout_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace jitgemm {

LayoutValue LayoutValue::tuple_of(Tuple parts) {
    if (!std::all_of(parts.begin(), parts.end(), [](const LayoutValue& part) { return part.is_int_tuple(); }))
        return Variant(std::move(parts));
    std::vector<IntTuple> modes;
    for (const LayoutValue& part : parts) modes.push_back(part.as_int_tuple());
    return Variant(IntTuple(std::move(modes)));
}

IntTuple LayoutValue::as_int_tuple() const {
    if (const auto* tuple = std::get_if<IntTuple>(&value_)) return *tuple;
    throw LayoutError(fmt::format("{} stands where an integer or a tuple of integers is needed", to_string(*this)));
}

std::int64_t LayoutValue::as_integer() const { return as_int_tuple().value(); }

Layout LayoutValue::as_layout() const {
    ComposedLayout composed = as_composed();
    if (composed.swizzle())
        throw LayoutError(fmt::format("{} stands where a layout without swizzle is needed", to_string(*this)));
    return composed.layout();
}

ComposedLayout LayoutValue::as_composed() const {
    if (const auto* layout = std::get_if<ComposedLayout>(&value_)) return *layout;
    if (const auto* shape = std::get_if<IntTuple>(&value_)) return Layout(*shape);
    const auto* parts = std::get_if<Tuple>(&value_);
    if (parts == nullptr) throw LayoutError(fmt::format("{} stands where a layout is needed", to_string(*this)));
    if (parts->size() == 1) return parts->front().as_composed();  // parentheses around one
    std::vector<Layout> modes;
    for (const LayoutValue& part : *parts) modes.push_back(part.as_layout());
    return make_layout(modes);
}

Tiler LayoutValue::as_tiler() const {
    if (const auto* tuple = std::get_if<IntTuple>(&value_)) return Tiler(*tuple);
    const auto* parts = std::get_if<Tuple>(&value_);
    if (parts == nullptr) return as_layout();
    std::vector<Tiler> modes;
    for (const LayoutValue& part : *parts) modes.push_back(part.as_tiler());
    return modes;
}

std::string to_string(const LayoutValue& value) {
    const auto print = [](const auto& alternative) {
        using Alternative = std::decay_t<decltype(alternative)>;
        if constexpr (!std::is_same_v<Alternative, LayoutValue::Tuple>) {
            return to_string(alternative);
        } else {
            std::vector<std::string> parts;
            for (const LayoutValue& part : alternative) parts.push_back(to_string(part));
            return fmt::format("({})", fmt::join(parts, ","));
        }
    };
    return std::visit(print, value.variant());
}

}  // namespace jitgemm
