#pragma once

#include "runtime/emulator/program.hpp"
#include "runtime/emulator/shared_access.hpp"
#include "runtime/emulator/warpgroup_registers.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

class Warp;

/// A warp's wgmmas in flight: the sums that its registers will hold when their group is complete, and the shared memory
/// that they read until then. Meanwhile the registers hold a NaN that no instruction makes (kPoison), so that a result
/// that was read too early shows.
class WarpgroupSums {
public:
    static constexpr std::uint32_t kPoison = 0x7fdeadU | 0x7f800000U;

    /// The sums of the registers, a row of kLanes each: those in flight, else the registers' own. `a` are A's
    /// registers, if it has some. Throws AccessFault if some are in flight as part of other sums, or if a wgmma.fence
    /// is missing.
    [[nodiscard]] std::vector<std::uint32_t>& begin(Warp& warp, std::span<const Value> registers,
                                                    std::span<const Value> a);
    /// 16 bytes of the block's own shared memory that the current wgmma reads.
    void note_read(const Accessor& who, std::uint32_t offset) { reads_.push_back({who, offset, group_}); }

    void commit() { ++group_; }
    /// Waits until at most `pending` of the committed groups are in flight. Throws AccessFault if data that they read
    /// was written meanwhile.
    void wait(Warp& warp, std::uint64_t pending);
    /// The warp ends. Throws AccessFault if something is in flight.
    void check_end() const;
    [[nodiscard]] WarpgroupRegisters& registers() { return registers_; }

private:
    struct Sums {
        std::vector<Value> values;
        std::vector<std::uint32_t> words;
        std::uint64_t group = 0;  ///< the last group that added to them
    };
    struct Read {
        Accessor who;
        std::uint32_t offset;
        std::uint64_t group;
    };
    void require_apart(std::span<const Value> registers) const;

    std::unordered_map<std::uint32_t, Sums> sums_;  ///< by the row of their first register
    std::vector<Read> reads_;
    WarpgroupRegisters registers_;
    std::uint64_t group_ = 0;  ///< of wgmmas that are not yet committed
};

}  // namespace jitgemm::emulator
