#pragma once

#include "runtime/emulator/program.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace jitgemm::emulator {

class Warp;

/// The allowed uses of the registers of a warp's wgmmas (PTX ISA, "Async proxy" and wgmma.fence). Until a wait for
/// their group, other instructions neither read nor write the sums, and do not write A. After another instruction has
/// used a register, a wgmma.fence must come before the next wgmma with it; the first wgmma needs one, too. Only
/// registers of the entry are followed. Groups are numbered from 0.
class WarpgroupRegisters {
public:
    /// An instruction other than a wgmma executes. Throws AccessFault.
    void touch(const Warp& warp, const Instruction& instruction);
    void fence(const Warp& warp);
    /// A wgmma of this group begins, with `sums` and, if A is in registers, `a`. Throws AccessFault.
    void begin(const Warp& warp, std::uint64_t group, std::span<const Value> sums, std::span<const Value> a);
    /// All groups below this number are complete.
    void complete(std::uint64_t groups) { complete_ = std::max(complete_, groups); }
    /// A warp's registers need no watching before its first wgmma or fence.
    [[nodiscard]] bool watching() const { return !rows_.empty(); }

private:
    struct Row {
        std::uint64_t touched = 1;  ///< by other instructions: 1 + the number of earlier fences
        std::uint64_t sum = 0;      ///< of the last wgmma that adds to it: 1 + its group
        std::uint64_t source = 0;   ///< of the last wgmma with it as a part of A: 1 + its group
        std::uint32_t site = 0;     ///< that wgmma
    };
    void watch(const Warp& warp);
    [[nodiscard]] bool in_flight(std::uint64_t mark) const { return mark > complete_; }
    void require_fence(const Warp& warp, const Row& row, const Value& value) const;
    void require_done(const Warp& warp, const Row& row, const Value& value, bool writes) const;

    std::vector<Row> rows_;  ///< one per word, as in the entry's frame
    std::uint64_t fences_ = 0;
    std::uint64_t complete_ = 0;
};

}  // namespace jitgemm::emulator
