#pragma once

#include "generator/epilogue/graph.hpp"
#include "generator/epilogue/problem.hpp"

namespace jitgemm {

/// An operand scales blocks of 128 of K. This says for which lines it has a scale, and how scales lie in memory.
struct BlockScaleLines {
    bool is_of_a = true;          ///< rows of A; else columns of B
    bool is_by_block = false;     ///< kScaledBlock lines have one scale; else each line has one
    bool is_k_contiguous = true;  ///< k-blocks lie side by side
};
[[nodiscard]] BlockScaleLines block_scale_lines(const EpilogueOperand& scale);

/// The same with "acc * scale_a[m,k/128] * scale_b[n/128,k/128]" as one node, acc: the mainloop multiplies products of
/// a block of K with the block's scales before it adds them. Notes a problem at `first` if a scale stands elsewhere.
/// The parts are in order of use.
[[nodiscard]] EpilogueParts with_scaled_products(EpilogueParts parts, TextPosition first, EpilogueProblems& problems);

}  // namespace jitgemm
