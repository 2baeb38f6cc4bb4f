#include "generator/layout/tv_layout.hpp"

#include "generator/layout/layout_algebra.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

constexpr std::int64_t kMostTileElements = std::int64_t{1} << 26;

std::vector<int> int_table(const Layout& mode) {
    const std::vector<std::int64_t> values = table(mode);
    return {values.begin(), values.end()};  // the constructor bounds them by rows · columns
}

/// Strides 0 replaced by one that no inverse follows: right_inverse would stop at them before it began.
IntTuple without_broadcast(const IntTuple& stride, std::int64_t beyond) {
    if (!stride.is_tuple()) return stride.value() == 0 ? beyond : stride.value();
    std::vector<IntTuple> modes;
    for (const IntTuple& mode : stride.modes()) modes.push_back(without_broadcast(mode, beyond));
    return modes;
}

}  // namespace

TvLayout::TvLayout(Layout layout, int rows, int columns) : layout_(std::move(layout)), rows_(rows), columns_(columns) {
    const std::int64_t elements = std::int64_t{rows} * columns;
    if (layout_.rank() != 2) throw LayoutError(fmt::format("{} is no layout of (thread, value)", to_string(layout_)));
    if (layout_.cosize() > elements)
        throw LayoutError(
            fmt::format("{} reaches element {} of {}x{}", to_string(layout_), layout_.cosize() - 1, rows, columns));
    if (elements > kMostTileElements)
        throw LayoutError(
            fmt::format("{}x{} elements are more than the {} that are counted out", rows, columns, kMostTileElements));
    threads_ = int_table(layout_.mode(0));
    values_ = int_table(layout_.mode(1));
}

Coordinate TvLayout::coordinate(int thread, int value) const {
    const int flat = index(thread, value);
    return {flat % rows_, flat / rows_};
}

Layout TvLayout::inverse() const {
    const std::int64_t elements = std::int64_t{rows_} * columns_;
    const Layout injective(layout_.shape(), without_broadcast(layout_.stride(), elements + 1));
    const Layout inverse = right_inverse(injective);
    if (inverse.size() != elements)
        throw LayoutError(fmt::format("{} has no inverse: it reaches {} of {}x{} elements in order", to_string(layout_),
                                      inverse.size(), rows_, columns_));
    return composition(inverse, Layout(std::vector<IntTuple>{rows_, columns_}));
}

ThreadValue owner_of(const TvLayout& layout, Coordinate coordinate) {
    const auto owner =
        static_cast<int>(layout.inverse()(coordinate.row + std::int64_t{coordinate.column} * layout.rows()));
    return {owner % layout.threads(), owner / layout.threads()};
}

}  // namespace jitgemm
