#pragma once

#include "generator/layout/layout_algebra.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// CuTe's Swizzle<B,M,S>: it XORs `bits` bits of an index, which lie `shift` above, into the bits from `base` on
/// (NVIDIA/cutlass include/cute/swizzle.hpp). With a negative shift they lie below. A swizzle is its own inverse.
class Swizzle {
public:
    /// Throws LayoutError unless 0 ≤ bits ≤ |shift|, base ≥ 0, and all bits lie within 62 bits.
    Swizzle(int bits, int base, int shift);

    [[nodiscard]] int bits() const { return bits_; }
    [[nodiscard]] int base() const { return base_; }
    [[nodiscard]] int shift() const { return shift_; }
    [[nodiscard]] std::int64_t operator()(std::int64_t index) const;

    friend bool operator==(const Swizzle&, const Swizzle&) = default;

private:
    int bits_;
    int base_;
    int shift_;
};

[[nodiscard]] std::string to_string(const Swizzle& swizzle);  ///< "Sw<3,4,3>", as CuTe prints it

/// The swizzles that the tensor memory accelerator applies to byte addresses (PTX ISA, tensor swizzling modes), over
/// 32, 64 and 128 bytes.
struct TmaSwizzle {
    std::string_view name;  ///< "128B"
    Swizzle swizzle;        ///< of byte addresses
};
[[nodiscard]] std::span<const TmaSwizzle> tma_swizzles();

/// swizzle ∘ (offset + layout), or only a layout if there is no swizzle.
class ComposedLayout {
public:
    ComposedLayout(Layout layout) : layout_(std::move(layout)) {}  // NOLINT(google-explicit-constructor): it is one
    ComposedLayout(Swizzle swizzle, std::int64_t offset, Layout layout)
        : swizzle_(swizzle), offset_(offset), layout_(std::move(layout)) {}

    [[nodiscard]] const std::optional<Swizzle>& swizzle() const { return swizzle_; }
    [[nodiscard]] std::int64_t offset() const { return offset_; }
    [[nodiscard]] const Layout& layout() const { return layout_; }
    /// The same swizzle and offset around another layout.
    [[nodiscard]] ComposedLayout around(Layout layout) const;

    [[nodiscard]] std::int64_t size() const { return layout_.size(); }
    [[nodiscard]] std::int64_t cosize() const { return layout_.cosize(); }  ///< of the layout within, as in CuTe
    [[nodiscard]] std::int64_t operator()(const IntTuple& coordinate) const { return swizzled(layout_(coordinate)); }
    [[nodiscard]] std::int64_t operator()(std::int64_t index) const { return swizzled(layout_(index)); }

    friend bool operator==(const ComposedLayout&, const ComposedLayout&) = default;

private:
    [[nodiscard]] std::int64_t swizzled(std::int64_t value) const;

    std::optional<Swizzle> swizzle_;
    std::int64_t offset_ = 0;
    Layout layout_;
};

[[nodiscard]] std::string to_string(const ComposedLayout& layout);  ///< "Sw<3,4,3> o 0 o (8,64):(64,1)"
[[nodiscard]] std::vector<std::int64_t> table(const ComposedLayout& layout);

}  // namespace jitgemm
