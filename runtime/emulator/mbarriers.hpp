#pragma once

#include "runtime/emulator/bulk_chunk.hpp"
#include "runtime/emulator/happens_before.hpp"
#include "runtime/emulator/program.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jitgemm::emulator {

class Block;
class Warp;

/// The counts of one mbarrier (PTX ISA, "mbarrier"). A phase is complete when it lacks no arrival, and when exactly the
/// expected bytes have come. Then the next phase begins.
class MbarrierCount {
public:
    static constexpr std::int64_t kMost = (1 << 20) - 1;  ///< of arrivals, and of bytes either way

    /// This and all functions below throw AccessFault if a count leaves its range.
    explicit MbarrierCount(std::int64_t arrivals);
    /// Both return whether the call completes the phase.
    bool arrive(std::int64_t count);
    bool expect(std::int64_t bytes);  ///< negative: bytes that have come

    [[nodiscard]] std::uint64_t phase() const { return phase_; }  ///< the incomplete one; the first is 0
    /// "phase 3 lacks 1 of 2 arrivals and 4096 bytes"
    [[nodiscard]] std::string describe() const;

private:
    bool complete_if_done();

    std::int64_t arrivals_;
    std::int64_t missing_;
    std::int64_t bytes_ = 0;  ///< expected and not there; negative: there and not expected
    std::uint64_t phase_ = 0;
};

/// The phase that a wait asks about: that of an arrival's state, or the last one of a parity.
struct PhaseQuery {
    bool parity = true;
    std::uint64_t value = 0;
};

/// The mbarriers in a block's shared memory by offset, and the copies that they count. A warp that sees a phase
/// complete knows the history of all who arrived in it, and sees the data of its copies. In `late` mode a copy is
/// complete when no warp of the cluster can go on before; in `eager` mode at issue.
class Mbarriers {
public:
    explicit Mbarriers(Block& block) : block_(block) {}

    // Each throws AccessFault if there is no mbarrier, or none that `who` may know.
    void init(const Accessor& who, std::uint32_t offset, std::int64_t arrivals);
    void invalidate(const Accessor& who, std::uint32_t offset);
    /// fence.mbarrier_init: the warp's new mbarriers may be used by copies, and by all warps that synchronise with it
    /// later.
    void fence_init(const Warp& warp);
    /// Returns the state: the phase for which the arrival counts.
    std::uint64_t arrive(const Accessor& who, std::uint32_t offset, std::int64_t count, bool releases);
    void expect(const Accessor& who, std::uint32_t offset, std::int64_t bytes);
    /// A copy into the block's memory. Its range has been checked.
    void issue(std::uint32_t offset, const BulkLoad& load);
    [[nodiscard]] bool is_complete(const Accessor& who, std::uint32_t offset, const PhaseQuery& query, bool acquires);

    /// The warp waits until a phase of the mbarrier is complete.
    void add_waiter(Warp& warp, std::uint32_t offset);
    /// Completes copies that `late` mode has put off and for which a warp waits; false if there are none. Throws
    /// EmulatorFault.
    bool finish_copies();
    /// The block ends. Throws AccessFault if a copy into its memory may be in flight.
    void check_end() const;
    /// A line for each mbarrier at which a warp waits: the missing counts, the waiting warps, and their places.
    [[nodiscard]] std::string describe() const;

private:
    struct Mbarrier {
        MbarrierCount count;
        Accessor maker;
        std::uint32_t made = 0;              ///< time of its initialization
        std::uint64_t fenced = 0;            ///< the cluster barrier's first completion after a fence; 0: none
        HappensBefore::Clock gathering{};    ///< the history that arrivals of the phase hand over
        HappensBefore::Clock handed_over{};  ///< the history of complete phases
        std::vector<BulkLoad> in_transit{};
        std::vector<BulkLoad> arrived{};     ///< in the incomplete phase
        std::vector<BulkLoad> unobserved{};  ///< in complete phases for which nobody has waited since
        /// The time at which each warp first saw this number of complete phases; 0: never. It is kept by the number's
        /// parity, for the last two numbers.
        std::array<std::vector<std::uint32_t>, 2> seen{};
    };
    struct Waiter {
        Warp* warp = nullptr;
        const Instruction* instruction = nullptr;
        std::uint32_t offset = 0;
    };
    Mbarrier& find(const Accessor& who, std::uint32_t offset);
    void require_known(const Accessor& who, const Mbarrier& own, std::uint32_t offset);
    void require_known_to_copies(const Accessor& who, const Mbarrier& own, std::uint32_t offset) const;
    [[nodiscard]] bool knows_complete(const Accessor& who, const Mbarrier& own, std::uint64_t phases) const;
    void require_unambiguous(const Accessor& who, const Mbarrier& own, std::uint32_t offset,
                             std::uint64_t parity) const;
    void note_seen(const Accessor& who, Mbarrier& own);
    void finish(std::uint32_t offset, Mbarrier& own, const BulkLoad& load);
    void complete(std::uint32_t offset, Mbarrier& own);
    void observe(const Accessor& who, Mbarrier& own);
    void wake(std::uint32_t offset);
    [[nodiscard]] bool is_waited_at(std::uint32_t offset) const;

    Block& block_;
    std::map<std::uint32_t, Mbarrier> mbarriers_;  ///< by offset
    std::vector<Waiter> waiters_;
};

}  // namespace jitgemm::emulator
