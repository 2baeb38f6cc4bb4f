#pragma once

#include "generator/base/operand.hpp"

#include <cstddef>
#include <cstdint>

namespace jitgemm::c_api {

/// A matrix as rows (or columns) of bytes, of which a launch reads or writes no gap.
struct MatrixLines {
    std::int64_t count;
    std::int64_t bytes;
    std::int64_t pitch;

    /// Bytes from the first to one past the last.
    [[nodiscard]] std::size_t extent() const {
        return count == 0 || bytes == 0 ? 0 : static_cast<std::size_t>((count - 1) * pitch + bytes);
    }
    /// Calls with offset and length of each line.
    template <typename Visit>
    void each(Visit visit) const {
        if (bytes == 0) return;
        for (std::int64_t i = 0; i < count; ++i)
            visit(static_cast<std::uint64_t>(i * pitch), static_cast<std::size_t>(bytes));
    }
};

/// Of an operand of a resolved spec.
[[nodiscard]] MatrixLines lines_of(const GemmOperand& operand);

}  // namespace jitgemm::c_api
