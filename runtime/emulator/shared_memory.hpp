#pragma once

#include "runtime/emulator/checks.hpp"
#include "runtime/emulator/fault.hpp"
#include "runtime/emulator/happens_before.hpp"
#include "runtime/emulator/peer_accesses.hpp"
#include "runtime/emulator/shared_access.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace jitgemm::emulator {

/// The owner of a shared memory, for reports and the clocks of its warps.
struct SharedOwner {
    int first_warp = 0;  ///< the block's warps, by their numbers in the cluster
    int warps = kMaxWarps;
    std::string block;                                        ///< "block (1,0,0)"; empty if it is alone in its cluster
    std::function<std::string(std::uint32_t)> describe_site;  ///< an instruction by its index
    std::function<std::string(int)> describe_warp;            ///< a warp by its number
};

/// A block's shared memory. For every byte it knows whether it was ever written, whether a copy into it is in flight,
/// its last writer and its readers since. A race is two accesses to one byte by different warps of the cluster that no
/// barrier orders. At least one of them writes, and they are not both atomic.
class SharedMemory {
public:
    SharedMemory(std::int64_t bytes, const Checks& checks, HappensBefore& order, SharedOwner owner);

    [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size()); }
    [[nodiscard]] std::byte* at(std::uint32_t offset) { return data_.data() + offset; }

    /// Checks range and alignment. Throws AccessFault. With the check off, false means: do not touch.
    [[nodiscard]] bool in_range(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment) const {
        const bool inside = offset <= data_.size() && bytes <= data_.size() - offset;
        if (inside && offset % alignment == 0) [[likely]]
            return true;
        check_placed(offset, bytes, alignment, inside);
        return inside;
    }

    /// Notes an access that is in range, by a warp of the block or of another. Throws AccessFault if it is not allowed.
    void touch(const Accessor& who, std::uint32_t offset, std::uint32_t bytes, Access access);

    // An asynchronous copy is a write from its issue on. Nobody may read the bytes before it is complete. `bytes` and
    // `offset` are multiples of 4.
    void begin_copy(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);
    void end_copy(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);

    // Chunks of bulk copies, whose offsets and bytes are multiples of 4. A copy into the memory is the asynchronous
    // agent's write from its issue on. Nobody may read the bytes before a wait at its mbarrier: land().
    void begin_bulk_write(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);
    void land(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);
    // A bulk copy out of the memory and a wgmma read from their issue to their issuer's wait. Until then nobody may
    // write the bytes, and several may read them. The bytes must be visible to the asynchronous proxy. `offset` and
    // `bytes` are multiples of 16.
    void begin_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);
    void end_async_read(const Accessor& who, std::uint32_t offset, std::uint32_t bytes);
    /// The number of the block's asynchronous agent in the order of accesses.
    [[nodiscard]] int agent() const { return owner_.first_warp + owner_.warps; }

    // From now on these bytes are an mbarrier's, and ordinary accesses must leave them alone; or they no longer are.
    void place_mbarrier(const Accessor& who, std::uint32_t offset);
    void remove_mbarrier(const Accessor& who, std::uint32_t offset);
    /// An arrival at an mbarrier. The block must not end before it knows that the arrival has come.
    void note_arrival(const Accessor& who);

    /// The block ends. Throws AccessFault if an access of another block may come later or still be in flight.
    void check_end() const;

private:
    static constexpr std::uint32_t kGranule = 4;
    static constexpr std::uint32_t kWholeGranule = 0xF;
    static constexpr std::uint32_t kMbarrierBytes = 8;
    static constexpr std::uint32_t kGranulesPerRead = 4;               ///< of asynchronous reads: 16 bytes
    static constexpr std::uint32_t kMbarrierMark = ~std::uint32_t{0};  ///< of granules in flight

    /// Calls `function(granule)` for each granule of the range.
    static void for_granules(std::uint32_t offset, std::uint32_t bytes, const auto& function) {
        for (std::uint32_t granule = offset / kGranule; granule < (offset + bytes) / kGranule; ++granule) {
            function(granule);
        }
    }

    /// The last write and the reads since, for a byte or for four bytes that were always accessed together.
    struct History {
        std::uint32_t write_time = 0;  ///< 0: never
        std::uint32_t write_site = 0;
        std::uint32_t read_time = 0;  ///< of all `readers`; with exact_reads the place of their times in read_times_
        std::uint32_t read_site = 0;
        std::uint32_t readers = 0;     ///< a bit per warp
        std::uint8_t writer = 0;       ///< one of the block's warps, or after them its asynchronous agent
        bool strong : 1 = false;       ///< whether the last write was strong
        bool exact_reads : 1 = false;  ///< the readers' times differ and lie in read_times_
        bool split : 1 = false;        ///< each byte has its own history
        bool peers : 1 = false;        ///< other blocks' accesses to the granule lie in peers_
    };
    using Times = std::array<std::uint32_t, kMaxWarps>;
    /// Asynchronous reads of 16 bytes for which nobody has waited.
    struct ReadsInFlight {
        std::uint32_t count = 0;
        std::uint32_t site = 0;  ///< of the last one
    };

    /// The warp's index in its block; at least owner_.warps for a warp of another block.
    [[nodiscard]] unsigned own_index(const Accessor& who) const {
        return static_cast<unsigned>(who.warp - owner_.first_warp);
    }
    [[nodiscard]] bool is_own(unsigned index) const { return index < static_cast<unsigned>(owner_.warps); }
    /// Whether an action of one of the block's warps at `time` comes before the present action of `who`.
    [[nodiscard]] bool after(const Accessor& who, std::size_t own_warp, std::uint32_t time) const {
        return order_.ordered(who.warp, owner_.first_warp + static_cast<int>(own_warp), time);
    }
    void check_placed(std::uint64_t offset, std::uint32_t bytes, std::uint32_t alignment, bool inside) const;
    [[nodiscard]] bool touch_quickly(const Accessor& who, unsigned own, std::uint32_t granule, Access access);
    /// It is not inlined, because touch_quickly() would then save registers for its loop on every call.
    [[nodiscard, gnu::noinline]] bool after_reads(const Accessor& who, const History& history,
                                                  std::uint32_t readers) const;
    void touch_granule(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    void meet_peers(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    void track_peer(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    void check_order(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access) const;
    void give_to_agent(std::uint32_t granule, std::uint32_t site);
    void require_visible(const Accessor& who, std::uint32_t granule) const;
    void track_own(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    void track(const Accessor& who, History& history, std::uint32_t byte, Access access);
    void split(std::uint32_t granule);
    void check_write_order(const Accessor& who, const History& history, std::uint32_t byte, Access access) const;
    void check_read_order(const Accessor& who, const History& history, std::uint32_t byte, Access access) const;
    void note_read(const Accessor& who, History& history);
    void note_write(const Accessor& who, History& history, Access access);
    [[nodiscard]] std::uint32_t read_time(const History& history, std::size_t reader) const {
        return history.exact_reads ? read_times_[history.read_time][reader] : history.read_time;
    }
    [[nodiscard]] std::uint32_t keep_times(const Times& times);
    /// The history is about to be overwritten: another one may keep its readers' times there.
    void release_times(const History& history) {
        if (history.exact_reads) free_times_.push_back(history.read_time);
    }
    [[noreturn]] void report_race(const Accessor& who, Access access, std::uint32_t byte, const Accessor& other,
                                  const char* other_access) const;
    [[nodiscard]] std::string place_of(std::uint32_t byte) const;
    void require_free(std::uint32_t granule, Access access) const;
    [[nodiscard]] bool is_being_read(std::uint32_t granule) const {
        return !reads_in_flight_.empty() && reads_in_flight_[granule / kGranulesPerRead].count != 0;
    }
    void require_not_being_read(std::uint32_t granule, Access access) const;
    [[noreturn]] void report_never_written(std::uint32_t granule, std::uint32_t byte_mask) const;

    std::vector<std::byte> data_;
    Checks checks_;
    HappensBefore& order_;
    SharedOwner owner_;
    PeerAccesses peers_;
    std::vector<std::uint8_t> written_;           ///< per granule of 4 bytes: a bit per byte
    std::vector<std::uint32_t> in_flight_;        ///< per granule: 1 + the site of the copy into it; 0: none
    std::vector<ReadsInFlight> reads_in_flight_;  ///< by 16 bytes; empty until there is one
    std::vector<History> granules_;
    std::vector<History> bytes_;             ///< four per granule; empty until one is split
    std::vector<Times> read_times_;          ///< of histories whose readers' times differ
    std::vector<std::uint32_t> free_times_;  ///< places of read_times_ that no history has
};

}  // namespace jitgemm::emulator
