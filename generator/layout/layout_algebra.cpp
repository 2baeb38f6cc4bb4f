#include "generator/layout/layout_algebra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace jitgemm {
namespace {

/// One mode without inner structure, and the values counted before it.
struct FlatMode {
    std::int64_t extent = 1;
    std::int64_t stride = 0;
    std::int64_t before = 1;  ///< product of the extents of the modes left of it
};

std::vector<FlatMode> flat_modes(const Layout& layout) {
    const std::vector<std::int64_t> extents = flatten(layout.shape()), strides = flatten(layout.stride());
    std::vector<FlatMode> modes;
    std::int64_t before = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        modes.push_back({extents[i], strides[i], before});
        before = checked_product(before, extents[i]);
    }
    return modes;
}

/// An integer layout of one mode, a tuple of more; 1:0 of none.
Layout from_modes(const std::vector<FlatMode>& modes) {
    if (modes.empty()) return {};
    if (modes.size() == 1) return {IntTuple(modes.front().extent), IntTuple(modes.front().stride)};
    std::vector<IntTuple> extents, strides;
    for (const FlatMode& mode : modes) {
        extents.emplace_back(mode.extent);
        strides.emplace_back(mode.stride);
    }
    return {IntTuple(std::move(extents)), IntTuple(std::move(strides))};
}

std::vector<FlatMode> coalesced(const std::vector<FlatMode>& modes) {
    std::vector<FlatMode> result;
    for (const FlatMode& mode : modes) {
        if (mode.extent == 1) continue;
        if (!result.empty() && checked_product(result.back().extent, result.back().stride) == mode.stride)
            result.back().extent = checked_product(result.back().extent, mode.extent);
        else
            result.push_back(mode);
    }
    return result;
}

void sort_by_stride(std::vector<FlatMode>& modes) {
    std::sort(modes.begin(), modes.end(), [](const FlatMode& left, const FlatMode& right) {
        return std::tie(left.stride, left.extent, left.before) < std::tie(right.stride, right.extent, right.before);
    });
}

std::int64_t ceil_div(std::int64_t dividend, std::int64_t divisor) {
    return dividend / divisor + (dividend % divisor != 0);
}

std::int64_t sign(std::int64_t value) { return (value > 0) - (value < 0); }

[[noreturn]] void refuse_composition(const Layout& a, const FlatMode& b, const std::string& rule) {
    throw LayoutError(fmt::format("composition of {} with {}:{}: {}", to_string(a), b.extent, b.stride, rule));
}

/// a ∘ b where b has one mode: walks over the modes of a, taking from each what b's stride and extent leave of it.
/// `alone`: b is all there is, so nothing can carry out of a mode of a that its steps don't divide but stay within.
Layout compose_mode(const Layout& a, const FlatMode& b, bool alone) {
    if (b.stride == 0) return from_modes({b});
    const std::vector<FlatMode> modes = flat_modes(coalesce(a));
    std::vector<FlatMode> result;
    FlatMode rest = b;
    for (std::size_t i = 0; i + 1 < modes.size(); ++i) {
        const FlatMode& mode = modes[i];
        const std::int64_t step = std::abs(rest.stride);
        const bool stays_within = rest.extent == 1 || (alone && rest.extent <= ceil_div(mode.extent, step));
        if (step % mode.extent != 0 && mode.extent % step != 0 && !stays_within)
            refuse_composition(
                a, b,
                fmt::format("stride divisibility: the stride {} and the extent {} do not divide", step, mode.extent));
        const std::int64_t taken = std::min(ceil_div(mode.extent, step), rest.extent);
        if (taken != 1) {
            if (rest.extent % taken != 0)
                refuse_composition(a, b,
                                   fmt::format("shape divisibility: {} elements do not divide into {} of the extent {}",
                                               rest.extent, taken, mode.extent));
            result.push_back({taken, checked_product(rest.stride, mode.stride)});
            rest.extent /= taken;
        }
        rest.stride = ceil_div(step, mode.extent) * sign(rest.stride);
    }
    if (rest.extent != 1 || result.empty())
        result.push_back({rest.extent, checked_product(rest.stride, modes.empty() ? 0 : modes.back().stride)});
    return from_modes(result);
}

Layout compose(const Layout& a, const Layout& b, bool alone) {
    if (!b.shape().is_tuple()) return compose_mode(a, {b.shape().value(), b.stride().value()}, alone);
    std::vector<Layout> modes;
    for (int i = 0; i < b.rank(); ++i) modes.push_back(compose(a, b.mode(i), alone));
    return make_layout(modes);
}

template <typename PerMode>
Layout transform_modes(const Layout& layout, std::size_t count, const char* what, PerMode&& per_mode) {
    if (count > static_cast<std::size_t>(layout.rank()))
        throw LayoutError(
            fmt::format("{} of {} modes is too many for {} of rank {}", what, count, to_string(layout), layout.rank()));
    std::vector<Layout> modes;
    for (int i = 0; i < layout.rank(); ++i)
        modes.push_back(static_cast<std::size_t>(i) < count ? per_mode(layout.mode(i), static_cast<std::size_t>(i))
                                                            : layout.mode(i));
    return make_layout(modes);
}

}  // namespace

Tiler::Tiler(const IntTuple& tuple) {
    if (tuple.is_integer()) layout_ = Layout(tuple);
    by_mode_ = tuple.is_tuple();
    for (const IntTuple& mode : tuple.modes()) modes_.emplace_back(mode);
}

Layout coalesce(const Layout& layout) { return from_modes(coalesced(flat_modes(layout))); }

Layout coalesce(const Layout& layout, const IntTuple& profile) {
    if (!profile.is_tuple()) return coalesce(layout);
    return transform_modes(layout, profile.modes().size(), "a profile",
                           [&](const Layout& mode, std::size_t i) { return coalesce(mode, profile.modes()[i]); });
}

Layout filter(const Layout& layout) {
    std::vector<FlatMode> modes = flat_modes(layout);
    modes.erase(std::remove_if(modes.begin(), modes.end(),
                               [](const FlatMode& mode) { return mode.extent == 1 || mode.stride == 0; }),
                modes.end());
    return from_modes(coalesced(modes));
}

Layout flatten(const Layout& layout) {
    if (!layout.shape().is_tuple()) return layout;
    std::vector<Layout> modes;
    for (const FlatMode& mode : flat_modes(layout)) modes.push_back(from_modes({mode}));
    return make_layout(modes);
}

Layout composition(const Layout& a, const Layout& b) { return compose(a, b, !b.shape().is_tuple()); }

Layout composition(const Layout& a, const Tiler& b) {
    if (b.layout()) return composition(a, *b.layout());
    if (!b.by_mode()) return a;
    return transform_modes(a, b.modes().size(), "a tiler",
                           [&](const Layout& mode, std::size_t i) { return composition(mode, b.modes()[i]); });
}

Layout complement(const Layout& layout, std::int64_t cosize_target) {
    std::vector<FlatMode> modes = flat_modes(filter(layout));
    sort_by_stride(modes);
    std::vector<FlatMode> result;
    std::int64_t reached = 1;
    for (const FlatMode& mode : modes) {
        if (mode.extent == 1) continue;
        if (mode.stride < reached)
            throw LayoutError(
                fmt::format("complement of {}: not injective, or its modes do not nest: the stride {} lies within the "
                            "{} values of the "
                            "modes below it",
                            to_string(layout), mode.stride, reached));
        result.push_back({mode.stride / reached, reached});
        reached = checked_product(mode.extent, mode.stride);
    }
    result.push_back({ceil_div(std::max(cosize_target, std::int64_t{1}), reached), reached});
    return from_modes(coalesced(result));
}

Layout right_inverse(const Layout& layout) {
    std::vector<FlatMode> modes = flat_modes(layout);
    sort_by_stride(modes);
    std::vector<FlatMode> result;
    std::int64_t reached = 1;
    for (const FlatMode& mode : modes) {
        if (mode.extent == 1) continue;
        if (mode.stride != reached) break;
        result.push_back({mode.extent, mode.before});
        reached = checked_product(mode.extent, mode.stride);
    }
    return from_modes(coalesced(result));
}

Layout left_inverse(const Layout& layout) { return right_inverse(make_layout({layout, complement(layout)})); }

Layout upcast(const Layout& layout, std::int64_t elements) {
    if (layout.shape().is_tuple())
        return transform_modes(layout, static_cast<std::size_t>(layout.rank()), "",
                               [&](const Layout& mode, std::size_t) { return upcast(mode, elements); });
    const std::int64_t stride = layout.stride().value(), step = std::abs(stride);
    if (step == 0) return layout;
    if (step % elements != 0 && elements % step != 0)
        throw LayoutError(
            fmt::format("upcast of {} by {}: the stride {} does not divide", to_string(layout), elements, stride));
    return {IntTuple(ceil_div(layout.shape().value(), ceil_div(elements, step))),
            IntTuple(sign(stride) * ceil_div(step, elements))};
}

Layout downcast(const Layout& layout, std::int64_t parts) {
    if (layout.shape().is_tuple())
        return transform_modes(layout, static_cast<std::size_t>(layout.rank()), "",
                               [&](const Layout& mode, std::size_t) { return downcast(mode, parts); });
    const std::int64_t extent = layout.shape().value(), stride = layout.stride().value();
    if (std::abs(stride) == 1) return {IntTuple(checked_product(extent, parts)), IntTuple(stride)};
    return {IntTuple(extent), IntTuple(checked_product(stride, parts))};
}

}  // namespace jitgemm
