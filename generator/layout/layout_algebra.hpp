#pragma once

#include "generator/layout/layout.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace jitgemm {

// The algebra of CuTe's layouts at run time (NVIDIA/cutlass media/docs/cpp/cute/02_layout_algebra.md). Results are
// spelled as CuTe spells them, mode for mode. Every function throws LayoutError with the rule that the operands break,
// or if a size exceeds 63 bits.

/// The divisor or multiplier of a layout: a layout, nothing (the mode stays as it is), or one tiler per mode.
class Tiler {
public:
    Tiler() = default;                                               ///< nothing: "_"
    Tiler(Layout layout) : layout_(std::move(layout)) {}             // NOLINT(google-explicit-constructor)
    Tiler(std::int64_t extent) : Tiler(Layout(IntTuple(extent))) {}  // NOLINT(google-explicit-constructor)
    Tiler(std::vector<Tiler> modes)
        : by_mode_(true), modes_(std::move(modes)) {}  // NOLINT(google-explicit-constructor)
    /// As CuTe reads an IntTuple in a tiler's place: an integer is a layout, and a tuple has one tiler per mode.
    explicit Tiler(const IntTuple& tuple);

    [[nodiscard]] const std::optional<Layout>& layout() const { return layout_; }
    [[nodiscard]] bool by_mode() const { return by_mode_; }
    [[nodiscard]] const std::vector<Tiler>& modes() const { return modes_; }

private:
    std::optional<Layout> layout_;
    bool by_mode_ = false;
    std::vector<Tiler> modes_;
};

/// (first, second): a tuple, or a tiler for rows and columns.
[[nodiscard]] inline IntTuple pair_of(const IntTuple& first, const IntTuple& second) {
    return std::vector<IntTuple>{first, second};
}
[[nodiscard]] inline Tiler by_mode(const Tiler& first, const Tiler& second) {
    return std::vector<Tiler>{first, second};
}

/// The same function of an integer with as few modes as possible.
[[nodiscard]] Layout coalesce(const Layout& layout);
/// The same by mode: the profile's tuples name the levels to keep, and its integers the parts to coalesce.
[[nodiscard]] Layout coalesce(const Layout& layout, const IntTuple& profile);
/// Without the modes of extent 1 or stride 0, coalesced.
[[nodiscard]] Layout filter(const Layout& layout);
/// All modes on one level.
[[nodiscard]] Layout flatten(const Layout& layout);

/// a ∘ b: i → a(b(i)), with the shape of b. Two rules: a stride of b that steps over an extent of a divides it or is
/// divided by it, unless b has one mode that never leaves the extent ("stride divisibility"). An extent of b divides by
/// the part that it takes of every mode of a ("shape divisibility").
[[nodiscard]] Layout composition(const Layout& a, const Layout& b);
[[nodiscard]] Layout composition(const Layout& a, const Tiler& b);

/// The layout that reaches, together with the given one, every value below `cosize_target` once. Rule: the modes nest,
/// with each stride beyond the values of the modes below it. The given layout is then injective.
[[nodiscard]] Layout complement(const Layout& layout, std::int64_t cosize_target = 1);

/// The largest layout r with layout(r(i)) = i for i = 0, 1, 2 …
[[nodiscard]] Layout right_inverse(const Layout& layout);
/// A layout l with l(layout(i)) = i. It has the rule of complement(). Outside the image it continues as pycute's does.
[[nodiscard]] Layout left_inverse(const Layout& layout);

/// (tile, rest): the elements that the tiler picks, and the layout of the tiles. An extent that the tile does not
/// divide is rounded up, as in CuTe: 1000:1 by 128:1 is (128,8):(1,128).
[[nodiscard]] Layout logical_divide(const Layout& layout, const Tiler& tiler);
[[nodiscard]] Layout zipped_divide(const Layout& layout, const Tiler& tiler);  ///< ((tile,tile,…),(rest,rest,…))
[[nodiscard]] Layout tiled_divide(const Layout& layout, const Tiler& tiler);   ///< ((tile,tile,…),rest,rest,…)
[[nodiscard]] Layout flat_divide(const Layout& layout, const Tiler& tiler);    ///< (tile,tile,…,rest,rest,…)

/// (block, repetition): the layout repeated as the tiler says.
[[nodiscard]] Layout logical_product(const Layout& layout, const Tiler& tiler);
[[nodiscard]] Layout zipped_product(const Layout& layout, const Tiler& tiler);
[[nodiscard]] Layout tiled_product(const Layout& layout, const Tiler& tiler);
[[nodiscard]] Layout flat_product(const Layout& layout, const Tiler& tiler);
/// Mode by mode ((block,repetition),…): blocks side by side.
[[nodiscard]] Layout blocked_product(const Layout& block, const Layout& tiler);
/// Mode by mode ((repetition,block),…): blocks interleaved.
[[nodiscard]] Layout raked_product(const Layout& block, const Layout& tiler);

/// Groups `elements` neighbours into one: strides and extents are then in units of this number. Rule: the contiguous
/// extent divides.
[[nodiscard]] Layout upcast(const Layout& layout, std::int64_t elements);
/// The inverse: every element becomes `parts` neighbours.
[[nodiscard]] Layout downcast(const Layout& layout, std::int64_t parts);

/// Repeats a block mode by mode until it covers the shape, block after block, first mode first.
[[nodiscard]] Layout tile_to_shape(const Layout& block, const IntTuple& shape);

}  // namespace jitgemm
