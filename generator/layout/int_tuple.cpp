#include "generator/layout/int_tuple.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace jitgemm {
namespace {

void append_flat(const IntTuple& tuple, std::vector<std::int64_t>& flat) {
    if (!tuple.is_tuple()) {
        flat.push_back(tuple.value());
        return;
    }
    for (const IntTuple& mode : tuple.modes()) append_flat(mode, flat);
}

/// Strides of a shape whose first element lies `next` apart; `next` becomes the stride of what follows.
IntTuple strides_from(const IntTuple& shape, std::int64_t& next) {
    if (!shape.is_tuple()) {
        const std::int64_t stride = next;
        next = checked_product(next, shape.value());
        return stride;
    }
    std::vector<IntTuple> strides;
    for (const IntTuple& mode : shape.modes()) strides.push_back(strides_from(mode, next));
    return strides;
}

}  // namespace

IntTuple IntTuple::underscore() {
    IntTuple all;
    all.kind_ = Kind::underscore;
    return all;
}

std::int64_t IntTuple::value() const {
    if (!is_integer()) throw LayoutError(fmt::format("{} stands where an integer is needed", to_string(*this)));
    return value_;
}

int IntTuple::rank() const { return is_tuple() ? static_cast<int>(modes_.size()) : 1; }

const IntTuple& IntTuple::mode(int i) const {
    if (i < 0 || i >= rank())
        throw LayoutError(fmt::format("{} has no mode {}: its rank is {}", to_string(*this), i, rank()));
    return is_tuple() ? modes_[static_cast<std::size_t>(i)] : *this;
}

bool operator==(const IntTuple& left, const IntTuple& right) {
    return left.kind_ == right.kind_ && left.value_ == right.value_ && left.modes_ == right.modes_;
}

std::string to_string(const IntTuple& tuple) {
    if (tuple.is_underscore()) return "_";
    if (tuple.is_integer()) return std::to_string(tuple.value());
    std::vector<std::string> modes;
    for (const IntTuple& mode : tuple.modes()) modes.push_back(to_string(mode));
    return fmt::format("({})", fmt::join(modes, ","));
}

int depth(const IntTuple& tuple) {
    int deepest = 0;
    for (const IntTuple& mode : tuple.modes()) deepest = std::max(deepest, depth(mode));
    return tuple.is_tuple() ? deepest + 1 : 0;
}

bool has_underscore(const IntTuple& tuple) {
    return tuple.is_underscore() || std::any_of(tuple.modes().begin(), tuple.modes().end(), has_underscore);
}

std::vector<std::int64_t> flatten(const IntTuple& tuple) {
    std::vector<std::int64_t> flat;
    append_flat(tuple, flat);
    return flat;
}

std::int64_t product(const IntTuple& tuple) {
    std::int64_t result = 1;
    for (const std::int64_t value : flatten(tuple)) result = checked_product(result, value);
    return result;
}

IntTuple compact_strides(const IntTuple& shape) {
    std::int64_t next = 1;
    return strides_from(shape, next);
}

bool congruent(const IntTuple& left, const IntTuple& right) {
    if (left.is_tuple() != right.is_tuple()) return false;
    return std::equal(left.modes().begin(), left.modes().end(), right.modes().begin(), right.modes().end(), congruent);
}

std::int64_t checked_product(std::int64_t left, std::int64_t right) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(left, right, &result))
        throw LayoutError(fmt::format("{} * {} exceeds 63 bits", left, right));
    return result;
}

std::int64_t checked_sum(std::int64_t left, std::int64_t right) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(left, right, &result))
        throw LayoutError(fmt::format("{} + {} exceeds 63 bits", left, right));
    return result;
}

}  // namespace jitgemm
