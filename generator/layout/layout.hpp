#pragma once

#include "generator/layout/int_tuple.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A function from coordinates to integers: Shape:Stride, both nested alike, as in CuTe
/// (NVIDIA/cutlass media/docs/cpp/cute/01_layout.md). Coordinates may be given whole, by mode, or as one integer, which
/// counts through the shape with the first mode fastest.
///
///     const Layout tile = parse_layout("((4,8),(2,2,2)):((32,1),(16,8,128))");
///     tile(5);             // element 5 of 256
///     tile({3, 1});        // thread 3, value 1
///     tile.mode(0);        // (4,8):(32,1)
class Layout {
public:
    Layout() : Layout(IntTuple(1), IntTuple(0)) {}
    /// Column-major: strides follow from the shape.
    explicit Layout(IntTuple shape);
    /// Throws LayoutError when shape and stride nest differently or an extent is not positive.
    Layout(IntTuple shape, IntTuple stride);

    [[nodiscard]] const IntTuple& shape() const { return shape_; }
    [[nodiscard]] const IntTuple& stride() const { return stride_; }

    [[nodiscard]] int rank() const { return shape_.rank(); }
    [[nodiscard]] Layout mode(int i) const;
    [[nodiscard]] std::int64_t size() const { return size_; }  ///< of the domain
    [[nodiscard]] std::int64_t size(int i) const { return product(shape_.mode(i)); }
    /// One more than the largest value; strides count by their magnitude. Throws LayoutError beyond 63 bits.
    [[nodiscard]] std::int64_t cosize() const;

    /// The value at a coordinate: an integer, or a tuple that nests no deeper than the shape. As in CuTe, an integer
    /// coordinate may exceed the last extent. Throws LayoutError if the coordinate does not fit the shape.
    [[nodiscard]] std::int64_t operator()(const IntTuple& coordinate) const;
    [[nodiscard]] std::int64_t operator()(std::int64_t index) const;

    friend bool operator==(const Layout& left, const Layout& right) = default;

private:
    IntTuple shape_;
    IntTuple stride_;
    std::int64_t size_ = 1;
};

/// "((4,8),(2,2)):((32,1),(16,8))": as CuTe prints it.
[[nodiscard]] std::string to_string(const Layout& layout);

/// The layout of a text. Underscores before integers ("_4") and blanks are accepted. Without ":stride" the strides are
/// column-major. Throws LayoutError with the column of the first malformed token.
[[nodiscard]] Layout parse_layout(std::string_view text);

/// A layout with these layouts as its modes.
[[nodiscard]] Layout make_layout(const std::vector<Layout>& modes);

/// The coordinate of an index, nested as the shape.
[[nodiscard]] IntTuple index_to_coordinate(std::int64_t index, const IntTuple& shape);

/// The modes where the coordinate has an underscore, and the value of the others: layout(coordinate) for a coordinate
/// such as (_,3). Throws LayoutError when the coordinate doesn't fit the shape.
struct Slice {
    Layout layout;
    std::int64_t offset = 0;
};
[[nodiscard]] Slice slice(const Layout& layout, const IntTuple& coordinate);

/// f(0) … f(size − 1), for loops that call f often.
[[nodiscard]] std::vector<std::int64_t> table(const Layout& layout);

}  // namespace jitgemm
