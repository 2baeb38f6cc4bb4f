#pragma once

#include "runtime/emulator/happens_before.hpp"
#include "runtime/emulator/shared_access.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

/// Accesses of other blocks of the cluster to a block's shared memory that may still race with later ones. Few kernels
/// make any, so they are kept apart from the histories of the block's own accesses.
class PeerAccesses {
public:
    struct Record {
        Accessor who;
        std::uint32_t time = 0;
        std::uint32_t byte_mask = 0;  ///< of the granule's four bytes
        Access access = Access::read;
    };

    explicit PeerAccesses(const HappensBefore& order) : order_(order) {}

    /// The earlier access to these bytes of a granule that races with this one, or null.
    [[nodiscard]] const Record* find_race(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask,
                                          Access access) const;
    /// Forgets accesses that are covered: this access races with nothing, and each later race with a forgotten one
    /// would also be a race with it. Returns whether any of the granule is left.
    bool forget(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    void note(const Accessor& who, std::uint32_t granule, std::uint32_t byte_mask, Access access);
    /// An access that races with none, for example to an mbarrier. The block must still not end before it.
    void note_last(const Record& record);

    /// The last access of some warp that no warp of the block, numbered from `first`, knows to be over; or null.
    [[nodiscard]] const Record* find_unfinished(int first, int warps) const;

private:
    [[nodiscard]] bool ordered(int warp, const Record& earlier) const {
        return order_.ordered(warp, earlier.who.warp, earlier.time);
    }

    const HappensBefore& order_;
    std::unordered_map<std::uint32_t, std::vector<Record>> records_;  ///< by granule
    std::vector<Record> last_;                                        ///< by warp; time 0: none
};

}  // namespace jitgemm::emulator
