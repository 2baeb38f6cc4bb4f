#pragma once

#include "jitgemm/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// A layout, tiler or coordinate that breaks a rule of the layout algebra; the message names the rule and the values.
class LayoutError : public Error {
public:
    using Error::Error;
};

/// An integer, an underscore ("all of this mode", in coordinates and tilers), or a tuple of IntTuples, as in CuTe.
/// Shapes, strides and coordinates are IntTuples.
class IntTuple {
public:
    IntTuple(std::int64_t value = 0) : value_(value) {}  // NOLINT(google-explicit-constructor): an integer is one
    IntTuple(std::vector<IntTuple> modes) : kind_(Kind::tuple), modes_(std::move(modes)) {}  // NOLINT: so is a tuple
    static IntTuple underscore();

    [[nodiscard]] bool is_integer() const { return kind_ == Kind::integer; }
    [[nodiscard]] bool is_underscore() const { return kind_ == Kind::underscore; }
    [[nodiscard]] bool is_tuple() const { return kind_ == Kind::tuple; }
    [[nodiscard]] std::int64_t value() const;  ///< of an integer; throws LayoutError for anything else
    [[nodiscard]] const std::vector<IntTuple>& modes() const { return modes_; }  ///< empty unless a tuple

    [[nodiscard]] int rank() const;  ///< modes of a tuple; 1 for an integer
    [[nodiscard]] const IntTuple& mode(
        int i) const;  ///< an integer is its own mode 0; throws LayoutError beyond the rank

    friend bool operator==(const IntTuple& left, const IntTuple& right);

private:
    enum class Kind : std::uint8_t { integer, underscore, tuple };
    Kind kind_ = Kind::integer;
    std::int64_t value_ = 0;
    std::vector<IntTuple> modes_;
};

/// "((4,8),_,2)": as CuTe prints it.
[[nodiscard]] std::string to_string(const IntTuple& tuple);

[[nodiscard]] int depth(const IntTuple& tuple);  ///< 0 for an integer, 1 for a flat tuple
[[nodiscard]] bool has_underscore(const IntTuple& tuple);
[[nodiscard]] std::vector<std::int64_t> flatten(const IntTuple& tuple);  ///< all integers, left to right

/// Product of all integers. Throws LayoutError when it exceeds 63 bits.
[[nodiscard]] std::int64_t product(const IntTuple& tuple);

/// Column-major strides of a shape, first mode fastest: (2,(3,4)) → (1,(2,6)).
[[nodiscard]] IntTuple compact_strides(const IntTuple& shape);

/// Whether both have the same nesting: a coordinate fits a shape mode by mode.
[[nodiscard]] bool congruent(const IntTuple& left, const IntTuple& right);

/// Sums and products that throw LayoutError when they exceed 63 bits.
[[nodiscard]] std::int64_t checked_product(std::int64_t left, std::int64_t right);
[[nodiscard]] std::int64_t checked_sum(std::int64_t left, std::int64_t right);

}  // namespace jitgemm
