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

/// What one mbarrier counts (PTX ISA, "mbarrier"): a phase is complete when it lacks no arrival and every byte that was
/// expected has come, and no more than those. Then the next one begins.
class MbarrierCount {
public:
    static constexpr std::int64_t kMost = (1 << 20) - 1;  ///< of arrivals, and of bytes either way

    /// As all below throws AccessFault where a count leaves its range.
    explicit MbarrierCount(std::int64_t arrivals);
    /// Both say whether that completes the phase.
    bool arrive(std::int64_t count);
    bool expect(std::int64_t bytes);  ///< negative: so many have come

    [[nodiscard]] std::uint64_t phase() const { return phase_; }  ///< the one that is not complete; the first is 0
    /// "phase 3 lacks 1 of 2 arrivals and 4096 bytes"
    [[nodiscard]] std::string describe() const;

private:
    bool complete_if_done();

    std::int64_t arrivals_;
    std::int64_t missing_;
    std::int64_t bytes_ = 0;  ///< expected and not there; negative: there and not expected
    std::uint64_t phase_ = 0;
};

/// Which phase a wait asks about: that of a state an arrival gave, or the last one of a parity.
struct PhaseQuery {
    bool parity = true;
    std::uint64_t value = 0;
};

/// The mbarriers in a block's shared memory, by their offsets in it, and the copies they count. Whoever sees a phase
/// complete knows what those did who arrived in it, and sees what its copies brought.
///
/// In `late` mode a copy is done when no warp of the cluster can go on before; in `eager` mode at issue.
class Mbarriers {
public:
    explicit Mbarriers(Block& block) : block_(block) {}

    // Each throws AccessFault: where there is no mbarrier, or none that `who` may know of.
    void init(const Accessor& who, std::uint32_t offset, std::int64_t arrivals);
    void invalidate(const Accessor& who, std::uint32_t offset);
    /// fence.mbarrier_init: those that the warp has made may be used by all who are told of them, and by copies.
    void fence_init(const Warp& warp);
    /// Returns the state: the phase that the arrival counts for.
    std::uint64_t arrive(const Accessor& who, std::uint32_t offset, std::int64_t count, bool releases);
    void expect(const Accessor& who, std::uint32_t offset, std::int64_t bytes);
    /// A copy into the block's memory, which is checked to be in range.
    void issue(std::uint32_t offset, const BulkLoad& load);
    [[nodiscard]] bool is_complete(const Accessor& who, std::uint32_t offset, const PhaseQuery& query, bool acquires);

    /// The warp waits until a phase of the mbarrier is complete.
    void add_waiter(Warp& warp, std::uint32_t offset);
    /// Does what `late` mode has put off and somebody waits for; false where there is nothing. Throws EmulatorFault.
    bool finish_copies();
    /// The block ends. Throws AccessFault where a copy into its memory may be in flight.
    void check_end() const;
    /// A line for each that is waited at: what it lacks, who waits, and where.
    [[nodiscard]] std::string describe() const;

private:
    struct Mbarrier {
        MbarrierCount count;
        Accessor maker;
        std::uint32_t made = 0;              ///< when
        std::uint64_t fenced = 0;            ///< the cluster barrier's first completion after a fence; 0: none
        HappensBefore::Clock gathering{};    ///< what arrivals of the phase hand over
        HappensBefore::Clock handed_over{};  ///< what those of complete phases did
        std::vector<BulkLoad> in_transit{};
        std::vector<BulkLoad> arrived{};     ///< in the phase that is not complete
        std::vector<BulkLoad> unobserved{};  ///< in complete phases that nobody has waited for since
        /// When each warp first saw as many phases complete, 0: never. By the parity of their number: of the last two
        /// of them.
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
