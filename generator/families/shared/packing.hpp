#pragma once

#include "generator/base/kernel_source.hpp"
#include "generator/families/shared/pipeline_choices.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/layout/copy_atom.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// \file Operands copied into the workspace before the kernel proper, their rows padded to whole vectors (templates/pack.cuh).

inline constexpr int kPackThreads = 256;

/// The entry that packs the operand whose elements are the rule's matrix, with the arguments of the kernel that reads it.
[[nodiscard]] KernelEntry pack_entry(std::string function, GridMatrix matrix,
                                     const std::vector<KernelArgument>& arguments);

/// How an operand lies in memory, and what packing makes of it.
struct PackedOperand {
    std::int64_t rows = 0;     ///< along k, or along m or n
    std::int64_t columns = 0;  ///< neighbours in memory

    /// Vectors of eight elements, the last one of a row padded.
    [[nodiscard]] std::int64_t vectors() const { return rows * ((columns + 7) / 8); }
    [[nodiscard]] std::int64_t bytes() const { return rows * columns * 2; }
    [[nodiscard]] std::int64_t packed_bytes() const { return vectors() * 16; }
    /// Of the workspace, where the next part begins on a boundary.
    [[nodiscard]] std::int64_t workspace_bytes() const;
};
[[nodiscard]] PackedOperand packed_operand(Operand operand, const GemmSpec& spec);

/// Why nobody wants these operands packed unasked: rows of a few elements padded to eight multiply a large matrix.
[[nodiscard]] std::vector<std::string> wasteful_packing(const GemmSpec& spec, Pack pack);

}  // namespace jitgemm
