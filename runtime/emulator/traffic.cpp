#include "runtime/emulator/traffic.hpp"

#include "generator/layout/bank_conflicts.hpp"

#include <algorithm>

namespace jitgemm::emulator {
namespace {

constexpr std::uint64_t kSectorBytes = 32;
constexpr std::uint64_t kLineBytes = 128;
constexpr std::uint32_t kBytesPerPass = kSharedBanks * kBankBytes;

/// Whether every lane wants banks of its own: then one pass serves them all. False may also mean a broadcast.
bool has_disjoint_banks(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes) {
    const std::uint32_t words = std::max<std::uint32_t>(bytes / kBankBytes, 1);
    const std::uint32_t width = (1U << words) - 1;
    std::uint32_t taken = 0;
    return all_of_bits(mask, [&](std::size_t lane) {
        const std::uint32_t banks = width << (addresses[lane] / kBankBytes % kSharedBanks);
        if (addresses[lane] % bytes != 0 || (taken & banks) != 0) return false;
        taken |= banks;
        return true;
    });
}

/// The mask's addresses as the generator counts them. Only their places in the banks and which are equal matter.
jitgemm::LaneAddresses active_addresses(const LaneAddresses& addresses, Mask mask) {
    constexpr std::uint64_t kOffsetMask = 0x3fffffff;
    return jitgemm::lane_addresses([&](int lane) {
        const bool active = (mask >> lane & 1U) != 0;
        return active ? static_cast<int>(addresses[static_cast<std::size_t>(lane)] & kOffsetMask) : kInactiveLane;
    });
}

Wavefronts from_layout(const jitgemm::Wavefronts& counted) { return {counted.count, counted.ideal}; }

/// Where the lanes of a copy lead, in units of `bytes` of source and destination: equal ones side by side.
class CopyRoutes {
public:
    CopyRoutes(const LaneAddresses& sources, const LaneAddresses& destinations, Mask mask, std::uint64_t bytes) {
        for_each_bit(mask, [&](std::size_t lane) {
            routes_[count_++] = sources[lane] / bytes * kDestinations + destinations[lane] / bytes % kDestinations;
        });
        const auto end = routes_.begin() + static_cast<std::ptrdiff_t>(count_);
        if (!std::is_sorted(routes_.begin(), end)) std::sort(routes_.begin(), end);
    }

    /// Of each route, as many as hold its lanes when `lanes` of them go together.
    [[nodiscard]] int groups_of(int lanes) const {
        int groups = 0;
        int taken = 0;  // of the route's lanes, in its last group
        for (std::size_t i = 0; i < count_; ++i) {
            const bool joins = i > 0 && routes_[i] == routes_[i - 1] && taken < lanes;
            taken = joins ? taken + 1 : 1;
            groups += joins ? 0 : 1;
        }
        return groups;
    }

private:
    static constexpr std::uint64_t kDestinations = std::uint64_t{1} << 20;  // more than shared memory has bytes

    LaneAddresses routes_;  // NOLINT: only the first `count_` are read
    std::size_t count_ = 0;
};

}  // namespace

int count_sectors(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes) {
    std::array<std::uint64_t, 2 * kLanes> sectors;  // NOLINT: only the first `count` are read
    std::size_t count = 0;
    bool ascending = true;
    for_each_bit(mask, [&](std::size_t lane) {
        const std::uint64_t last = (addresses[lane] + bytes - 1) / kSectorBytes;
        for (std::uint64_t sector = addresses[lane] / kSectorBytes; sector <= last; ++sector) {
            if (count > 0 && sectors[count - 1] == sector) continue;
            ascending = ascending && (count == 0 || sectors[count - 1] < sector);
            sectors[count++] = sector;
        }
    });
    if (ascending) return static_cast<int>(count);
    const auto end = sectors.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(sectors.begin(), end);
    return static_cast<int>(std::unique(sectors.begin(), end) - sectors.begin());
}

CopySectors count_copy_sectors(const LaneAddresses& sources, const LaneAddresses& destinations, Mask mask) {
    constexpr int kLanesPerSector = 2;  // 16 bytes each
    return {.l1 = CopyRoutes(sources, destinations, mask, kLineBytes).groups_of(kLanesPerSector),
            .l2 = CopyRoutes(sources, destinations, mask, kSectorBytes).groups_of(kLanesPerSector)};
}

Wavefronts count_wavefronts(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes) {
    const std::uint32_t lanes =
        std::min<std::uint32_t>(kLanes, kBytesPerPass / std::max<std::uint32_t>(bytes, kBankBytes));
    const Mask phase_lanes = kAllLanes >> (kLanes - lanes);
    int phases = 0;
    for (std::uint32_t first = 0; first < kLanes; first += lanes) {
        const Mask phase = mask & (phase_lanes << first);
        if (phase == 0) continue;
        if (!has_disjoint_banks(addresses, phase, bytes)) {
            return from_layout(vector_wavefronts(static_cast<int>(bytes), active_addresses(addresses, mask)));
        }
        ++phases;
    }
    return {phases, phases};
}

Wavefronts count_load_wavefronts(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes) {
    // Phases are joined only where lanes are inactive or want the same: among them lane 0 and 1, or 0 and 2.
    const bool may_join = mask != kAllLanes || addresses[0] == addresses[1] || addresses[0] == addresses[2];
    if (bytes <= kBankBytes || !may_join) return count_wavefronts(addresses, mask, bytes);
    return from_layout(load_wavefronts(static_cast<int>(bytes), active_addresses(addresses, mask)));
}

}  // namespace jitgemm::emulator
