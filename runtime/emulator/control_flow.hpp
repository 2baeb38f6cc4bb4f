#pragma once

#include "runtime/emulator/program.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// \file The control flow of a function. It tells where diverged lanes meet, and which registers may be read before
/// they are written.

namespace jitgemm::emulator {

/// Instructions [first, end) that run one after the other. The numbers are indices within the function.
struct BasicBlock {
    std::size_t first = 0;
    std::size_t end = 0;
    std::vector<std::size_t> successors;  ///< blocks; the number of blocks means the function's end
};

/// `instructions` are the function's. Targets of branches are relative to the program's code, and `base` is the
/// function's first index there.
[[nodiscard]] std::vector<BasicBlock> basic_blocks(std::span<const Instruction> instructions, std::uint32_t base);

/// For each block, the first block that all paths from it go through. The number of blocks means that they only meet at
/// the function's end. (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.)
[[nodiscard]] std::vector<std::size_t> immediate_post_dominators(const std::vector<BasicBlock>& blocks);

/// Sets the reconvergence of every branch.
void set_reconvergence(std::span<Instruction> instructions, std::uint32_t base);

/// Finds registers that some path reads before it writes them. Marks their readers and writers as tracked, and returns
/// them.
[[nodiscard]] std::vector<Value> mark_tracked(std::span<Instruction> instructions, std::uint32_t base,
                                              const Function& function);

}  // namespace jitgemm::emulator
