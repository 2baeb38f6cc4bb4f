#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>

namespace jitgemm {

/// How an operand lies in memory, and what packing makes of it: a copy in the workspace whose rows are padded to whole lines of L2, of
/// 64 elements of 16 bits, or to a half or a quarter of one. What begins within a line is read with the line before, and what begins
/// within a sector takes TMA longest (templates/common/pack.cuh).
struct PackedOperand {
    std::int64_t rows = 0;     ///< along k, or along m or n
    std::int64_t columns = 0;  ///< neighbours in memory

    /// Elements from one row of the copy to the next.
    [[nodiscard]] std::int64_t pitch() const {
        if (columns > 32) return round_up<std::int64_t>(columns, 64);
        return columns > 16 ? 32 : 16;
    }
    /// Of eight elements, the last one of a row padded.
    [[nodiscard]] std::int64_t vectors() const { return rows * ceil_div<std::int64_t>(columns, 8); }
    [[nodiscard]] std::int64_t bytes() const { return rows * columns * 2; }
    [[nodiscard]] std::int64_t packed_bytes() const { return rows * pitch() * 2; }
    /// Of the workspace, where the next part begins on a boundary.
    [[nodiscard]] std::int64_t workspace_bytes() const;
};

/// A of an (m, k) problem that is row-major in D, or its B.
[[nodiscard]] PackedOperand packed_a(const GemmSpec& row_major);
[[nodiscard]] PackedOperand packed_b(const GemmSpec& row_major);

/// Whether TMA can't address the operand, whose addresses and pitches it wants in 16 bytes: a tensor map is then of its packed copy.
inline constexpr int kTmaAlignment = 16;
[[nodiscard]] inline bool needs_packing(int alignment) { return alignment < kTmaAlignment; }

/// Where in the workspace the copy of role packed_a or packed_b begins, when all that needs packing is packed: A, then B.
[[nodiscard]] std::int64_t packed_offset(ArgumentRole role, const GemmSpec& row_major);

}  // namespace jitgemm
