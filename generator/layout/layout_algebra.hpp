#pragma once

#include "generator/layout/layout.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace jitgemm {

// The algebra of CuTe's layouts at run time (NVIDIA/cutlass media/docs/cpp/cute/02_layout_algebra.md). Results are
// spelled as CuTe spells them, mode for mode. Every function throws LayoutError naming the rule that the operands
// break, and where a size exceeds 63 bits.

/// What divides or multiplies a layout: a layout, nothing (the mode stays as it is), or one tiler per mode.
class Tiler {
public:
    Tiler() = default;                                               ///< nothing: "_"
    Tiler(Layout layout) : layout_(std::move(layout)) {}             // NOLINT(google-explicit-constructor)
    Tiler(std::int64_t extent) : Tiler(Layout(IntTuple(extent))) {}  // NOLINT(google-explicit-constructor)
    Tiler(std::vector<Tiler> modes)
        : by_mode_(true), modes_(std::move(modes)) {}  // NOLINT(google-explicit-constructor)
    /// As CuTe reads an IntTuple where a tiler stands: an integer is a layout, a tuple goes by mode.
    explicit Tiler(const IntTuple& tuple);

    [[nodiscard]] const std::optional<Layout>& layout() const { return layout_; }
    [[nodiscard]] bool by_mode() const { return by_mode_; }
    [[nodiscard]] const std::vector<Tiler>& modes() const { return modes_; }

private:
    std::optional<Layout> layout_;
    bool by_mode_ = false;
    std::vector<Tiler> modes_;
};

/// (first, second): a tuple, and a tiler with one for rows and one for columns.
[[nodiscard]] inline IntTuple pair_of(const IntTuple& first, const IntTuple& second) {
    return std::vector<IntTuple>{first, second};
}
[[nodiscard]] inline Tiler by_mode(const Tiler& first, const Tiler& second) {
    return std::vector<Tiler>{first, second};
}

/// The same function of an integer with as few modes as possible.
[[nodiscard]] Layout coalesce(const Layout& layout);
/// By mode: the profile's tuples say which levels to keep, its integers where to coalesce.
[[nodiscard]] Layout coalesce(const Layout& layout, const IntTuple& profile);
/// Without the modes of extent 1 or stride 0, coalesced.
[[nodiscard]] Layout filter(const Layout& layout);
/// All modes on one level.
[[nodiscard]] Layout flatten(const Layout& layout);

/// a ∘ b: i → a(b(i)), with the shape of b. Rules: a stride of b that steps over an extent of a divides it or is
/// divided by it, unless b has one mode that never leaves it ("stride divisibility"); an extent of b divides by what it
/// takes of every mode of a ("shape divisibility").
[[nodiscard]] Layout composition(const Layout& a, const Layout& b);
[[nodiscard]] Layout composition(const Layout& a, const Tiler& b);

/// What reaches, together with the layout, every value below `cosize_target`, each once. Rule: the modes nest,
/// each stride beyond the values of those below it; then the layout is injective.
[[nodiscard]] Layout complement(const Layout& layout, std::int64_t cosize_target = 1);

/// The largest layout r with layout(r(i)) = i for i = 0, 1, 2 …
[[nodiscard]] Layout right_inverse(const Layout& layout);
/// A layout l with l(layout(i)) = i. Rule: that of complement. Off the image it counts on, as pycute's does.
[[nodiscard]] Layout left_inverse(const Layout& layout);

/// (tile, rest): the elements the tiler picks, and the layout of the tiles. An extent that the tile doesn't divide is
/// rounded up, as in CuTe: 1000:1 by 128:1 is (128,8):(1,128).
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

/// Groups `elements` neighbours into one: strides and extents in units of that many. Rule: the contiguous extent
/// divides.
[[nodiscard]] Layout upcast(const Layout& layout, std::int64_t elements);
/// The inverse: every element becomes `parts` neighbours.
[[nodiscard]] Layout downcast(const Layout& layout, std::int64_t parts);

/// Repeats a block mode by mode until it covers the shape, block after block in the order of the modes (first mode
/// first).
[[nodiscard]] Layout tile_to_shape(const Layout& block, const IntTuple& shape);

/// Whether no two coordinates share a value. Looks at the modes alone where they nest, else at every value up to 2^22.
[[nodiscard]] bool is_injective(const Layout& layout);

}  // namespace jitgemm
