#include "runtime/emulator/traffic.hpp"

#include "generator/layout/bank_conflicts.hpp"

#include <algorithm>
#include <bit>

namespace jitgemm::emulator {
namespace {

constexpr std::uint64_t kSectorBytes = 32;
constexpr std::uint32_t kBytesPerPass = kSharedBanks * kBankBytes;

/// Whether every lane wants banks of its own: then one pass serves them all. False may also mean a broadcast.
bool has_disjoint_banks(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes) {
    const std::uint32_t words = std::max<std::uint32_t>(bytes / kBankBytes, 1);
    const std::uint32_t width = (1U << words) - 1;
    std::uint32_t taken = 0;
    for (Mask left = mask; left != 0; left &= left - 1) {
        const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(left))];
        if (address % bytes != 0) return false;
        const std::uint32_t banks = width << (address / kBankBytes % kSharedBanks);
        if ((taken & banks) != 0) return false;
        taken |= banks;
    }
    return true;
}

/// The mask's addresses as the generator counts them. Only their places in the banks and which are equal matter.
jitgemm::LaneAddresses active_addresses(const LaneAddresses& addresses, Mask mask) {
    constexpr std::uint64_t kOffsetMask = 0x3fffffff;
    return lane_addresses([&](int lane) {
        const bool active = (mask >> lane & 1U) != 0;
        return active ? static_cast<int>(addresses[static_cast<std::size_t>(lane)] & kOffsetMask) : kInactiveLane;
    });
}

}  // namespace

int count_sectors(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes) {
    std::array<std::uint64_t, 2 * kLanes> sectors;  // NOLINT: only the first `count` are read
    std::size_t count = 0;
    bool ascending = true;
    for (Mask left = mask; left != 0; left &= left - 1) {
        const std::uint64_t address = addresses[static_cast<std::size_t>(std::countr_zero(left))];
        const std::uint64_t last = (address + bytes - 1) / kSectorBytes;
        for (std::uint64_t sector = address / kSectorBytes; sector <= last; ++sector) {
            if (count > 0 && sectors[count - 1] == sector) continue;
            ascending = ascending && (count == 0 || sectors[count - 1] < sector);
            sectors[count++] = sector;
        }
    }
    if (ascending) return static_cast<int>(count);
    const auto end = sectors.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(sectors.begin(), end);
    return static_cast<int>(std::unique(sectors.begin(), end) - sectors.begin());
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
            const auto counted = vector_wavefronts(static_cast<int>(bytes), active_addresses(addresses, mask));
            return {counted.count, counted.ideal};
        }
        ++phases;
    }
    return {phases, phases};
}

}  // namespace jitgemm::emulator
