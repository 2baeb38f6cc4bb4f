#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>

namespace jitgemm {

/// How an operand lies in memory, and what packing makes of it: a copy in the workspace whose rows are padded to whole
/// lines of L2, or to a half or a quarter of one. What begins within a line is read with the line before, and what
/// begins within a sector takes TMA longest (templates/common/pack.cuh).
struct PackedOperand {
    std::int64_t rows = 0;     ///< along k, or along m or n
    std::int64_t columns = 0;  ///< neighbours in memory
    int element_bytes = 1;

    /// Elements of a line.
    [[nodiscard]] std::int64_t line() const { return kLineBytes / element_bytes; }

    /// Elements from one row of the copy to the next.
    [[nodiscard]] std::int64_t pitch() const {
        if (columns > line() / 2) return round_up(columns, line());
        return columns > line() / 4 ? line() / 2 : line() / 4;
    }
    /// Of 16 bytes, the last one of a row padded.
    [[nodiscard]] std::int64_t vectors() const {
        return rows * ceil_div<std::int64_t>(columns * element_bytes, kVectorBytes);
    }
    [[nodiscard]] std::int64_t bytes() const { return rows * columns * element_bytes; }
    [[nodiscard]] std::int64_t packed_bytes() const { return rows * pitch() * element_bytes; }
    /// Of the workspace, where the next part begins on a boundary.
    [[nodiscard]] std::int64_t workspace_bytes() const;

private:
    static constexpr int kLineBytes = 128;
    static constexpr int kVectorBytes = 16;
};

/// A of an (m, k) problem that is row-major in D, or its B.
[[nodiscard]] PackedOperand packed_a(const GemmSpec& row_major);
[[nodiscard]] PackedOperand packed_b(const GemmSpec& row_major);

/// Whether TMA can't address the operand, whose addresses and pitches it wants in 16 bytes: a tensor map is then of its
/// packed copy.
inline constexpr int kTmaAlignment = 16;
[[nodiscard]] inline bool needs_packing(int alignment) { return alignment < kTmaAlignment; }

/// Where in the workspace the copy of role packed_a or packed_b begins, when all that needs packing is packed: A, then
/// B.
[[nodiscard]] std::int64_t packed_offset(ArgumentRole role, const GemmSpec& row_major);

}  // namespace jitgemm
