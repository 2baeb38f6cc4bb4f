// Division and product of layouts, and their forms that gather tiles: layout_algebra.hpp.

#include "generator/layout/layout_algebra.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

using Splitter = Layout (*)(const Layout&, const Tiler&);

void require_rank(const Layout& layout, const Tiler& tiler) {
    if (tiler.modes().size() > static_cast<std::size_t>(layout.rank()))
        throw LayoutError(fmt::format("a tiler of {} modes is too many for {} of rank {}", tiler.modes().size(),
                                      to_string(layout), layout.rank()));
}

Layout by_mode(const Layout& layout, const Tiler& tiler, Splitter splitter) {
    require_rank(layout, tiler);
    std::vector<Layout> modes;
    for (int i = 0; i < layout.rank(); ++i) {
        const auto index = static_cast<std::size_t>(i);
        modes.push_back(index < tiler.modes().size() ? splitter(layout.mode(i), tiler.modes()[index]) : layout.mode(i));
    }
    return make_layout(modes);
}

/// ((tile,tile,…),(rest,rest,…)) of a split that gives (tile,rest) for each mode; modes beyond the tiler's are rest.
Layout zipped(const Layout& layout, const Tiler& tiler, Splitter splitter) {
    if (tiler.layout()) return splitter(layout, tiler);
    if (!tiler.by_mode()) return make_layout({Layout(), layout});
    require_rank(layout, tiler);
    std::vector<Layout> tiles, rests;
    for (int i = 0; i < layout.rank(); ++i) {
        const auto index = static_cast<std::size_t>(i);
        if (index >= tiler.modes().size()) {
            rests.push_back(layout.mode(i));
            continue;
        }
        const Layout split = zipped(layout.mode(i), tiler.modes()[index], splitter);
        tiles.push_back(split.mode(0));
        rests.push_back(split.mode(1));
    }
    return make_layout({make_layout(tiles), make_layout(rests)});
}

void append_modes(const Layout& layout, std::vector<Layout>& modes) {
    for (int i = 0; i < layout.rank(); ++i) modes.push_back(layout.mode(i));
}

/// (tile,rest,rest,…) of (tile,(rest,rest,…)).
Layout with_rest_flat(const Layout& zipped) {
    std::vector<Layout> modes{zipped.mode(0)};
    append_modes(zipped.mode(1), modes);
    return make_layout(modes);
}

Layout with_both_flat(const Layout& zipped) {
    std::vector<Layout> modes;
    append_modes(zipped.mode(0), modes);
    append_modes(zipped.mode(1), modes);
    return make_layout(modes);
}

/// The layout with modes 1:0 appended up to that rank.
Layout padded(const Layout& layout, int rank) {
    if (layout.rank() >= rank) return layout;
    std::vector<Layout> modes;
    append_modes(layout, modes);
    modes.resize(static_cast<std::size_t>(rank));
    return make_layout(modes);
}

/// Mode by mode (first,second).
Layout interleaved(const Layout& first, const Layout& second) {
    if (!first.shape().is_tuple()) return make_layout({first, second});
    std::vector<Layout> modes;
    for (int i = 0; i < first.rank(); ++i) modes.push_back(make_layout({first.mode(i), second.mode(i)}));
    return make_layout(modes);
}

Layout product_of_padded(const Layout& block, const Layout& tiler) {
    const int rank = std::max(block.rank(), tiler.rank());
    return logical_product(padded(block, rank), Tiler(padded(tiler, rank)));
}

std::vector<std::int64_t> extents_by_mode(const IntTuple& shape) {
    std::vector<std::int64_t> extents;
    for (int i = 0; i < shape.rank(); ++i) extents.push_back(product(shape.mode(i)));
    return extents;
}

}  // namespace

Layout logical_divide(const Layout& layout, const Tiler& tiler) {
    if (tiler.by_mode()) return by_mode(layout, tiler, logical_divide);
    if (!tiler.layout()) return layout;
    return composition(layout, make_layout({*tiler.layout(), complement(*tiler.layout(), layout.size())}));
}

Layout zipped_divide(const Layout& layout, const Tiler& tiler) { return zipped(layout, tiler, logical_divide); }

Layout tiled_divide(const Layout& layout, const Tiler& tiler) { return with_rest_flat(zipped_divide(layout, tiler)); }

Layout flat_divide(const Layout& layout, const Tiler& tiler) { return with_both_flat(zipped_divide(layout, tiler)); }

Layout logical_product(const Layout& layout, const Tiler& tiler) {
    if (tiler.by_mode()) return by_mode(layout, tiler, logical_product);
    if (!tiler.layout()) return layout;
    const std::int64_t reach = checked_product(layout.size(), tiler.layout()->cosize());
    return make_layout({layout, composition(complement(layout, reach), *tiler.layout())});
}

Layout zipped_product(const Layout& layout, const Tiler& tiler) { return zipped(layout, tiler, logical_product); }

Layout tiled_product(const Layout& layout, const Tiler& tiler) { return with_rest_flat(zipped_product(layout, tiler)); }

Layout flat_product(const Layout& layout, const Tiler& tiler) { return with_both_flat(zipped_product(layout, tiler)); }

Layout blocked_product(const Layout& block, const Layout& tiler) {
    const Layout split = product_of_padded(block, tiler);
    return interleaved(split.mode(0), split.mode(1));
}

Layout raked_product(const Layout& block, const Layout& tiler) {
    const Layout split = product_of_padded(block, tiler);
    return interleaved(split.mode(1), split.mode(0));
}

Layout tile_to_shape(const Layout& block, const IntTuple& shape) {
    if (block.rank() > shape.rank())
        throw LayoutError(fmt::format("tile_to_shape: the block {} has more modes than the shape {}", to_string(block),
                                      to_string(shape)));
    const Layout whole = padded(block, shape.rank());
    const std::vector<std::int64_t> tile = extents_by_mode(whole.shape()), target = extents_by_mode(shape);
    std::vector<IntTuple> repetitions;
    for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] % tile[i] != 0)
            throw LayoutError(fmt::format("tile_to_shape: extent {} of the shape {} is no multiple of the block's {}",
                                          target[i], to_string(shape), tile[i]));
        repetitions.emplace_back(target[i] / tile[i]);
    }
    return blocked_product(whole, Layout(shape.is_tuple() ? IntTuple(std::move(repetitions)) : repetitions.front()));
}

}  // namespace jitgemm
