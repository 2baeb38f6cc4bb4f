#pragma once

#include "runtime/emulator/program.hpp"
#include "runtime/emulator/shared_access.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

class Warp;

/// What a warp's wgmmas have in flight: the sums that its registers will hold when their group is complete, and what of shared memory
/// they read until then. Meanwhile the registers hold a NaN that nobody computes (kPoison), so that a result which was read too
/// early shows.
class WarpgroupSums {
public:
    static constexpr std::uint32_t kPoison = 0x7fdeadU | 0x7f800000U;

    /// The sums of registers `registers` of `values`, a row of kLanes each: those in flight, else the registers' own. Throws
    /// AccessFault where some of them are in flight as part of others.
    [[nodiscard]] std::vector<std::uint32_t>& begin(Warp& warp, const std::vector<Value>& values,
                                                    std::size_t registers);
    /// 16 bytes of the block's own shared memory that the wgmma at hand reads.
    void note_read(const Accessor& who, std::uint32_t offset) { reads_.push_back({who, offset, group_}); }

    void commit() { ++group_; }
    /// Until at most `pending` of the committed groups are in flight. Throws AccessFault where something that they read was written
    /// meanwhile.
    void wait(Warp& warp, std::uint64_t pending);
    [[nodiscard]] bool any() const { return !sums_.empty(); }

private:
    struct Sums {
        std::vector<Value> values;
        std::vector<std::uint32_t> words;
        std::uint64_t group = 0;  ///< the last one that added to them
    };
    struct Read {
        Accessor who;
        std::uint32_t offset;
        std::uint64_t group;
    };
    void require_apart(const std::vector<Value>& values, std::size_t registers) const;

    std::unordered_map<std::uint32_t, Sums> sums_;  ///< by the row of their first register
    std::vector<Read> reads_;
    std::uint64_t group_ = 0;  ///< of wgmmas that are not committed yet
};

}  // namespace jitgemm::emulator
