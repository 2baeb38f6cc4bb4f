#include "generator/layout/layout.hpp"

#include "generator/layout/layout_text.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace jitgemm {
namespace {

void require_positive(const IntTuple& shape) {
    for (const std::int64_t extent : flatten(shape)) {
        if (extent < 1)
            throw LayoutError(
                fmt::format("shape {} has the extent {}: an extent is at least 1", to_string(shape), extent));
    }
}

[[noreturn]] void refuse_coordinate(const IntTuple& coordinate, const IntTuple& shape) {
    throw LayoutError(fmt::format("coordinate {} does not fit shape {}", to_string(coordinate), to_string(shape)));
}

std::int64_t value_at(std::int64_t index, const IntTuple& shape, const IntTuple& stride) {
    if (!shape.is_tuple()) return checked_product(index, stride.value());
    std::int64_t sum = 0;
    const std::size_t last = shape.modes().size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
        const std::int64_t extent = i == last ? 0 : product(shape.modes()[i]);
        const std::int64_t digit = i == last ? index : index % extent;
        sum = checked_sum(sum, value_at(digit, shape.modes()[i], stride.modes()[i]));
        if (i != last) index /= extent;
    }
    return sum;
}

std::int64_t value_at(const IntTuple& coordinate, const IntTuple& shape, const IntTuple& stride) {
    if (coordinate.is_underscore()) return 0;
    if (coordinate.is_integer()) return value_at(coordinate.value(), shape, stride);
    if (coordinate.rank() != shape.rank() || !shape.is_tuple()) refuse_coordinate(coordinate, shape);
    std::int64_t sum = 0;
    for (int i = 0; i < coordinate.rank(); ++i)
        sum = checked_sum(sum, value_at(coordinate.mode(i), shape.mode(i), stride.mode(i)));
    return sum;
}

/// The modes of `of` where the coordinate has underscores, on one level whatever their nesting, as in CuTe.
void collect_slice(const IntTuple& coordinate, const IntTuple& of, std::vector<IntTuple>& kept) {
    if (coordinate.is_underscore()) kept.push_back(of);
    if (!coordinate.is_tuple()) return;
    if (!of.is_tuple() || of.rank() != coordinate.rank()) refuse_coordinate(coordinate, of);
    for (int i = 0; i < coordinate.rank(); ++i) collect_slice(coordinate.mode(i), of.mode(i), kept);
}

void append_values(const IntTuple& shape, const IntTuple& stride, std::vector<std::int64_t>& values) {
    const std::vector<std::int64_t> extents = flatten(shape), steps = flatten(stride);
    values.assign(1, 0);
    for (std::size_t mode = 0; mode < extents.size(); ++mode) {
        const std::size_t inner = values.size();
        for (std::int64_t i = 1; i < extents[mode]; ++i) {
            for (std::size_t j = 0; j < inner; ++j)
                values.push_back(checked_sum(values[j], checked_product(i, steps[mode])));
        }
    }
}

}  // namespace

Layout::Layout(IntTuple shape) : shape_(std::move(shape)), stride_(compact_strides(shape_)), size_(product(shape_)) {
    require_positive(shape_);
}

Layout::Layout(IntTuple shape, IntTuple stride) : shape_(std::move(shape)), stride_(std::move(stride)) {
    if (!congruent(shape_, stride_))
        throw LayoutError(
            fmt::format("shape {} and stride {} nest differently", to_string(shape_), to_string(stride_)));
    require_positive(shape_);
    size_ = product(shape_);
}

Layout Layout::mode(int i) const { return {shape_.mode(i), stride_.mode(i)}; }

std::int64_t Layout::cosize() const {
    const std::vector<std::int64_t> extents = flatten(shape_), steps = flatten(stride_);
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < extents.size(); ++i)
        largest = checked_sum(largest, checked_product(extents[i] - 1, std::abs(steps[i])));
    return checked_sum(largest, 1);
}

std::int64_t Layout::operator()(const IntTuple& coordinate) const { return value_at(coordinate, shape_, stride_); }

std::int64_t Layout::operator()(std::int64_t index) const { return value_at(index, shape_, stride_); }

std::string to_string(const Layout& layout) { return to_string(layout.shape()) + ":" + to_string(layout.stride()); }

Layout parse_layout(std::string_view text) {
    LayoutText reader(text);
    Layout layout = reader.take_layout();
    reader.expect_end();
    return layout;
}

Layout make_layout(const std::vector<Layout>& modes) {
    std::vector<IntTuple> shapes, strides;
    for (const Layout& mode : modes) {
        shapes.push_back(mode.shape());
        strides.push_back(mode.stride());
    }
    return {IntTuple(std::move(shapes)), IntTuple(std::move(strides))};
}

IntTuple index_to_coordinate(std::int64_t index, const IntTuple& shape) {
    if (!shape.is_tuple()) return index % shape.value();
    std::vector<IntTuple> coordinate;
    for (const IntTuple& mode : shape.modes()) {
        coordinate.push_back(index_to_coordinate(index, mode));
        index /= product(mode);
    }
    return coordinate;
}

Slice slice(const Layout& layout, const IntTuple& coordinate) {
    if (coordinate.is_underscore()) return {layout, 0};
    std::vector<IntTuple> shapes, strides;
    collect_slice(coordinate, layout.shape(), shapes);
    collect_slice(coordinate, layout.stride(), strides);
    const std::int64_t offset = layout(coordinate);
    if (shapes.empty()) return {Layout(), offset};
    return {Layout(IntTuple(std::move(shapes)), IntTuple(std::move(strides))), offset};
}

std::vector<std::int64_t> table(const Layout& layout) {
    std::vector<std::int64_t> values;
    append_values(layout.shape(), layout.stride(), values);
    return values;
}

}  // namespace jitgemm
