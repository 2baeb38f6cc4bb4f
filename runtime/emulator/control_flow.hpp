#pragma once

#include "runtime/emulator/program.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// \file The control flow of a function, for where diverged lanes meet and which registers may be read unwritten.

namespace jitgemm::emulator {

/// Instructions [first, end) that run one after the other, indices within the function.
struct BasicBlock {
    std::size_t first = 0;
    std::size_t end = 0;
    std::vector<std::size_t> successors;  ///< blocks; the number of blocks stands for the function's end
};

/// `instructions` are the function's; branches have their targets, relative to the program's code, `base` being the
/// first.
[[nodiscard]] std::vector<BasicBlock> basic_blocks(std::span<const Instruction> instructions, std::uint32_t base);

/// The block all paths from a block come through first, for each block; the number of blocks where they only meet at
/// the function's end. (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.)
[[nodiscard]] std::vector<std::size_t> immediate_post_dominators(const std::vector<BasicBlock>& blocks);

/// Gives every branch its reconvergence.
void set_reconvergence(std::span<Instruction> instructions, std::uint32_t base);

/// Marks as tracked what reads a register that some path leaves unwritten, and what writes it. Returns those registers.
[[nodiscard]] std::vector<Value> mark_tracked(std::span<Instruction> instructions, std::uint32_t base,
                                              const Function& function);

}  // namespace jitgemm::emulator
