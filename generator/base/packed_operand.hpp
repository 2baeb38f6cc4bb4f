#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>

namespace jitgemm {

/// An operand in memory, and its packed copy in the workspace. The copy's rows are padded to whole lines of L2, or to a
/// half or a quarter of a line. A row that begins within a line is read with the previous line, too. A row that begins
/// within a sector takes TMA longest (templates/common/pack.cuh).
struct PackedOperand {
    std::int64_t rows = 0;     ///< along k, or along m or n
    std::int64_t columns = 0;  ///< elements that are neighbours in memory
    int element_bytes = 1;

    /// Elements of a line.
    [[nodiscard]] std::int64_t line() const { return kLineBytes / element_bytes; }

    /// Elements from one row of the copy to the next.
    [[nodiscard]] std::int64_t pitch() const {
        if (columns > line() / 2) return round_up(columns, line());
        return columns > line() / 4 ? line() / 2 : line() / 4;
    }
    /// Vectors of 16 bytes; the last one of a row is padded.
    [[nodiscard]] std::int64_t vectors() const {
        return rows * ceil_div<std::int64_t>(columns * element_bytes, kVectorBytes);
    }
    [[nodiscard]] std::int64_t bytes() const { return rows * columns * element_bytes; }
    [[nodiscard]] std::int64_t packed_bytes() const { return rows * pitch() * element_bytes; }
    /// Bytes of the workspace that the copy takes, up to the boundary on which the next part begins.
    [[nodiscard]] std::int64_t workspace_bytes() const;

private:
    static constexpr int kLineBytes = 128;
    static constexpr int kVectorBytes = 16;
};

/// The spec's A (m × k), and its B (k × n).
[[nodiscard]] PackedOperand packed_a(const GemmSpec& spec);
[[nodiscard]] PackedOperand packed_b(const GemmSpec& spec);

/// TMA needs addresses and pitches at multiples of 16 bytes. An operand that has others is packed, and the tensor map
/// describes the copy.
inline constexpr int kTmaAlignment = 16;
[[nodiscard]] inline bool needs_packing(int alignment) { return alignment < kTmaAlignment; }

/// The offset in the workspace of the copy of role packed_a or packed_b. All operands that need it are packed: A first,
/// then B.
[[nodiscard]] std::int64_t packed_offset(ArgumentRole role, const GemmSpec& spec);

}  // namespace jitgemm
