#include "generator/layout/composed_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace jitgemm {
namespace {

constexpr int kHighestBit = 62;

}  // namespace

Swizzle::Swizzle(int bits, int base, int shift) : bits_(bits), base_(base), shift_(shift) {
    if (bits < 0 || base < 0 || bits > std::abs(shift))
        throw LayoutError(fmt::format("Swizzle<{},{},{}>: bits and base are at least 0, and bits at most |shift|", bits,
                                      base, shift));
    if (bits + base + std::abs(shift) > kHighestBit)
        throw LayoutError(fmt::format("Swizzle<{},{},{}> reaches beyond bit {}", bits, base, shift, kHighestBit));
}

std::int64_t Swizzle::operator()(std::int64_t index) const {
    const std::int64_t field = ((std::int64_t{1} << bits_) - 1) << (base_ + std::max(0, shift_));
    const std::int64_t taken = index & field;
    return index ^ (shift_ >= 0 ? taken >> shift_ : taken << -shift_);
}

std::string to_string(const Swizzle& swizzle) {
    return fmt::format("Sw<{},{},{}>", swizzle.bits(), swizzle.base(), swizzle.shift());
}

std::span<const TmaSwizzle> tma_swizzles() {
    static const std::array kSwizzles{TmaSwizzle{"32B", {1, 4, 3}}, TmaSwizzle{"64B", {2, 4, 3}},
                                      TmaSwizzle{"128B", {3, 4, 3}}};
    return kSwizzles;
}

ComposedLayout ComposedLayout::around(Layout layout) const {
    return swizzle_ ? ComposedLayout(*swizzle_, offset_, std::move(layout)) : ComposedLayout(std::move(layout));
}

std::int64_t ComposedLayout::swizzled(std::int64_t value) const {
    return swizzle_ ? (*swizzle_)(checked_sum(offset_, value)) : value;
}

std::string to_string(const ComposedLayout& layout) {
    if (!layout.swizzle()) return to_string(layout.layout());
    return fmt::format("{} o {} o {}", to_string(*layout.swizzle()), layout.offset(), to_string(layout.layout()));
}

std::vector<std::int64_t> table(const ComposedLayout& layout) {
    std::vector<std::int64_t> values = table(layout.layout());
    if (layout.swizzle())
        for (std::int64_t& value : values) value = (*layout.swizzle())(checked_sum(layout.offset(), value));
    return values;
}

}  // namespace jitgemm
