#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/operand_parts.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <optional>

namespace jitgemm {

/// An operand's copy in the workspace. The copy's rows are padded to whole lines of L2, or to a half or a quarter of a
/// line. A row that begins within a line is read with the previous line, too. A row that begins within a sector takes
/// TMA longest (templates/common/pack.cuh). A copy may have each element in parts (operand_parts.hpp), and behind it a
/// pair of factors for each of its rows (templates/common/split.cuh). Its rows are not padded.
struct PackedOperand {
    std::int64_t rows = 0;     ///< along k, or along m or n
    std::int64_t columns = 0;  ///< elements that are neighbours in the copy
    int element_bytes = 1;
    bool is_transposed = false;  ///< whether elements of a column, not of a row, are neighbours in the operand
    std::optional<OperandParts> parts = {};  ///< columns are then words of whole groups

    /// Elements of a line.
    [[nodiscard]] std::int64_t line() const { return kLineBytes / element_bytes; }

    /// Elements from one row of the copy to the next.
    [[nodiscard]] std::int64_t pitch() const {
        if (parts) return columns;
        if (columns > line() / 2) return round_up(columns, line());
        return columns > line() / 4 ? line() / 2 : line() / 4;
    }
    /// Vectors of 16 bytes; the last one of a row is padded.
    [[nodiscard]] std::int64_t vectors() const {
        return rows * ceil_div<std::int64_t>(columns * element_bytes, kVectorBytes);
    }
    /// The threads of gemm_pack take one step each, in turn. A step moves a vector, or a block of a transposed operand,
    /// which is four rows by 16 bytes. Blocks come in whole tiles of kTileRows by kTileRowBytes.
    [[nodiscard]] std::int64_t steps() const {
        constexpr std::int64_t kBlocksPerTile = 32;
        if (!is_transposed) return vectors();
        return ceil_div<std::int64_t>(rows, kTileRows) *
               ceil_div<std::int64_t>(columns * element_bytes, kTileRowBytes) * kBlocksPerTile;
    }
    [[nodiscard]] std::int64_t bytes() const { return rows * columns * element_bytes; }
    /// Groups of K in a row of a copy in parts.
    [[nodiscard]] std::int64_t groups() const { return columns / parts.value().group_words(); }
    [[nodiscard]] std::int64_t packed_bytes() const { return rows * pitch() * element_bytes; }
    /// Bytes of the workspace that the copy takes, up to the boundary on which the next part begins.
    [[nodiscard]] std::int64_t workspace_bytes() const;

private:
    static constexpr std::int64_t kTileRows = 32;
    static constexpr std::int64_t kTileRowBytes = 64;
    static constexpr int kLineBytes = 128;
    static constexpr int kVectorBytes = 16;
};

/// Of the two factors of a row of a copy in parts.
inline constexpr int kFactorBytes = 8;

/// Tensor cores read elements of 8 bits and tf32 only where K is contiguous, and K is contiguous in a copy of parts. An
/// operand that lies otherwise is transposed on its way to the workspace. `of` is a GemmSpec or a GemmSignature.
[[nodiscard]] bool needs_k_major(const auto& of) { return bytes(of.a) == 1 || of.math != Math::ieee; }
[[nodiscard]] bool transposes_a(const auto& of) { return needs_k_major(of) && order_a(of.layout) != Order::row; }
[[nodiscard]] bool transposes_b(const auto& of) { return needs_k_major(of) && order_b(of.layout) == Order::row; }

/// The copies of the spec's A (m × k) and of its B (k × n).
[[nodiscard]] PackedOperand packed_a(const GemmSpec& spec);
[[nodiscard]] PackedOperand packed_b(const GemmSpec& spec);

/// TMA needs addresses and pitches at multiples of 16 bytes. An operand that has others is packed, and the tensor map
/// describes the copy.
inline constexpr int kTmaAlignment = 16;
[[nodiscard]] inline bool needs_packing(int alignment) { return alignment < kTmaAlignment; }

/// Whether the caller has prepared the operand. Kernels know it only of copies in parts (Problem::asked).
[[nodiscard]] constexpr bool is_prepared(Prepared operand, const auto& of) {
    return of.prepared == operand || of.prepared == Prepared::ab;
}
[[nodiscard]] constexpr bool is_prepared_a(const auto& of) { return is_prepared(Prepared::a, of); }
[[nodiscard]] constexpr bool is_prepared_b(const auto& of) { return is_prepared(Prepared::b, of); }

/// Whether a kernel that reads by TMA reads a copy: packed, transposed or in parts.
[[nodiscard]] bool copies_a(const auto& of) { return needs_packing(of.align_a) || transposes_a(of) || has_parts(of); }
[[nodiscard]] bool copies_b(const auto& of) { return needs_packing(of.align_b) || transposes_b(of) || has_parts(of); }

/// Whether a launch of this kernel makes that copy, in the workspace. That of a symmetric product's B is A's.
[[nodiscard]] bool makes_copy_a(const auto& of) { return copies_a(of) && !is_prepared_a(of); }
[[nodiscard]] bool makes_copy_b(const auto& of) { return copies_b(of) && !is_prepared_b(of) && !of.symmetric; }

/// Bytes of the workspace that the copies of one problem take, by a kernel that reads by TMA. Those of the next problem
/// of a batch lie behind them.
[[nodiscard]] std::int64_t packed_bytes(const GemmSpec& spec);

/// The offset in the workspace of the copy of role packed_a or packed_b. All operands that a launch copies have one:
/// A's comes first, then B's.
[[nodiscard]] std::int64_t packed_offset(ArgumentRole role, const GemmSpec& spec);

}  // namespace jitgemm
