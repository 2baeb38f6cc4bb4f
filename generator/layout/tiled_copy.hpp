#pragma once

#include "generator/layout/layout_algebra.hpp"
#include "generator/layout/tiled_mma.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// A copy of a tile by many threads: CuTe's TiledCopy with one thread per instruction (cp.async, plain loads and
/// stores).
///
///     const TiledCopy copy(parse_layout("(16,8):(8,1)"), parse_layout("(1,8)"));
///     copy.layout_tv();    // ((8,16),8):((128,1),16): 16 x 64 elements per pass
class TiledCopy {
public:
    /// make_tiled_copy(atom, thread layout, value layout): (m, n) → thread and (m, n) → value, both of rank 2 at most.
    /// Throws LayoutError if one of them is not a numbering 0, 1, 2 …, or if a pass has more than 2^24 elements.
    TiledCopy(const Layout& threads, const Layout& values);
    /// The copy whose threads take the elements of an operand's fragments: make_tiled_copy_A, _B and _C.
    TiledCopy(const TiledMma& mma, Operand operand);

    [[nodiscard]] const Layout& layout_tv() const { return layout_tv_; }  ///< (thread, value) → index in one pass
    [[nodiscard]] int rows() const { return rows_; }                      ///< of one pass
    [[nodiscard]] int columns() const { return columns_; }
    [[nodiscard]] std::int64_t threads() const { return layout_tv_.size(0); }
    [[nodiscard]] std::int64_t values() const { return layout_tv_.size(1); }

    /// A thread's part of a tensor in instructions of `vector` values: ((FrgV,FrgX),RestM,RestN). The offset is that of
    /// its first element. Rows and columns that a pass does not divide are rounded up. Throws LayoutError if the vector
    /// does not divide a thread's values, or if there is no such thread.
    [[nodiscard]] Slice partition(const Layout& tensor, int vector, int thread) const;

private:
    Layout layout_tv_;
    int rows_ = 0;
    int columns_ = 0;
};

/// The first element of one instruction.
struct CopyVector {
    int row = 0;
    int column = 0;
    std::int64_t offset = 0;  ///< in the data, in elements
    friend bool operator==(const CopyVector&, const CopyVector&) = default;
};

/// Instructions of `vector` elements each that a thread issues for a whole tile of data, in their order. Throws
/// LayoutError if passes of the copy do not divide the tile, or if it has more than 2^24 elements.
[[nodiscard]] std::vector<CopyVector> copy_vectors(const TiledCopy& copy, const Layout& data, int vector, int thread);

/// The instruction that moves a tile.
enum class CopyKind : std::uint8_t {
    global_to_shared,   ///< cp.async, or registers if the vector is too narrow for it
    shared_to_register  ///< ld.shared
};

/// One width, whether it is possible, and the reason.
struct CopyWidth {
    int bytes = 0;
    int elements = 0;  ///< 0 if an element is wider
    bool legal = false;
    std::string instruction{};  ///< "SM80_CP_ASYNC_CACHEGLOBAL", "ld.global.b16 + st.shared.b16"
    std::string reason{};
};

/// Every width from 16 bytes down to 1, for a tile of elements of `bits` bits whose first one is aligned to `alignment`
/// bytes. A width is legal if the elements of its vectors are neighbours in the data and all vectors lie on multiples
/// of their size.
[[nodiscard]] std::vector<CopyWidth> copy_widths(const TiledCopy& copy, const Layout& data, int bits, int alignment,
                                                 CopyKind path);

/// The widest legal one, or null.
[[nodiscard]] const CopyWidth* widest(const std::vector<CopyWidth>& widths);

}  // namespace jitgemm
