#pragma once

#include "runtime/emulator/program.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace jitgemm::emulator {

class Warp;

/// What a warp may do with the registers that its wgmmas use (PTX ISA, "Async proxy" and wgmma.fence): until a wait for
/// their group others neither read nor write the sums nor write A; and after others have used a register, a wgmma.fence
/// comes before the next wgmma that does, the first one's included. Only registers of the entry are followed. Groups
/// are numbered from 0.
class WarpgroupRegisters {
public:
    /// Anything but a wgmma executes. Throws AccessFault.
    void touch(const Warp& warp, const Instruction& instruction);
    void fence(const Warp& warp);
    /// A wgmma of that group begins, with `sums` and, where A is in registers, `a`. Throws AccessFault.
    void begin(const Warp& warp, std::uint64_t group, std::span<const Value> sums, std::span<const Value> a);
    /// Groups below are complete.
    void complete(std::uint64_t groups) { complete_ = std::max(complete_, groups); }
    /// Before its first wgmma or fence a warp's registers need no watching.
    [[nodiscard]] bool watching() const { return !rows_.empty(); }

private:
    struct Row {
        std::uint64_t touched = 1;  ///< by others: 1 + the fences that came before
        std::uint64_t sum = 0;      ///< of the last wgmma that adds to it: 1 + its group
        std::uint64_t source = 0;   ///< of the last one that has it as a part of A, likewise
        std::uint32_t site = 0;     ///< that wgmma
    };
    void watch(const Warp& warp);
    [[nodiscard]] bool in_flight(std::uint64_t mark) const { return mark > complete_; }
    void require_fence(const Warp& warp, const Row& row, const Value& value) const;
    void require_done(const Warp& warp, const Row& row, const Value& value, bool writes) const;

    std::vector<Row> rows_;  ///< a word each, as in the entry's frame
    std::uint64_t fences_ = 0;
    std::uint64_t complete_ = 0;
};

}  // namespace jitgemm::emulator
