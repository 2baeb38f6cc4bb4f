#include "generator/layout/bank_conflicts.hpp"

#include "generator/layout/copy_atom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace jitgemm {
namespace {

constexpr int kPhaseBytes = kSharedBanks * kBankBytes;
constexpr int kMatrixRowBytes = 16;

/// The words that lanes of a phase want of each bank. It is used for many candidates, so it allocates nothing.
/// Aligned vectors are counted whole, over banks as wide as they are: two of them share all their banks or none.
class Phase {
public:
    explicit Phase(int unit_bytes) : unit_bytes_(unit_bytes), banks_(kPhaseBytes / unit_bytes) {}

    void want(int address, int bytes) {
        const int last = (address + bytes - 1) / unit_bytes_;
        for (int unit = address / unit_bytes_; unit <= last; ++unit) want_unit(unit);
    }
    [[nodiscard]] int wavefronts() const { return busiest_; }

private:
    void want_unit(int unit) {
        const auto bank = static_cast<std::size_t>(unit % banks_);
        const auto begin = units_[bank].begin();
        const auto end = begin + wanted_[bank];
        if (std::find(begin, end, unit) != end) return;
        units_[bank][wanted_[bank]++] = unit;
        busiest_ = std::max<int>(busiest_, wanted_[bank]);
    }

    int unit_bytes_;
    int banks_;
    // A lane's units are neighbours, so it wants at most one of each bank.
    std::array<std::array<int, kWarpLanes>, kSharedBanks> units_;  // the first wanted_[bank] of each count
    std::array<std::uint8_t, kSharedBanks> wanted_{};
    int busiest_ = 0;
};

/// Bytes that always travel together: a whole vector where all are aligned, else a word.
int unit_bytes(int bytes, const LaneAddresses& addresses) {
    const auto aligned = [&](int address) { return address < 0 || address % bytes == 0; };
    return std::all_of(addresses.begin(), addresses.end(), aligned) ? std::max(bytes, kBankBytes) : kBankBytes;
}

/// Lanes of a phase that all want data of their own.
int phase_lanes(int bytes) { return kPhaseBytes / std::max(bytes, kBankBytes); }

Wavefronts wavefronts(int all_lanes, int lanes, int bytes, const LaneAddresses& addresses) {
    const int unit = unit_bytes(bytes, addresses);
    Wavefronts sum;
    for (int first = 0; first < all_lanes; first += lanes) {
        Phase phase(unit);
        for (int lane = first; lane < first + lanes; ++lane) {
            const int address = addresses[static_cast<std::size_t>(lane)];
            if (address >= 0) phase.want(address, bytes);
        }
        sum.count += phase.wavefronts();
        sum.ideal += phase.wavefronts() > 0 ? 1 : 0;
    }
    return sum;
}

/// Whether no lane wants other data than the lane whose number differs in the bit `distance`.
bool neighbours_share(int distance, const LaneAddresses& addresses) {
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        const int own = addresses[static_cast<std::size_t>(lane)];
        const int other = addresses[static_cast<std::size_t>(lane ^ distance)];
        if (own >= 0 && other >= 0 && own != other) return false;
    }
    return true;
}

bool is_power_of_two_up_to(int value, int most) { return value >= 1 && value <= most && (value & (value - 1)) == 0; }

void require_width(int bytes) {
    if (!is_power_of_two_up_to(bytes, 16))
        throw std::invalid_argument(fmt::format("a lane moves 1, 2, 4, 8 or 16 bytes, not {}", bytes));
}

}  // namespace

Wavefronts matrix_wavefronts(int x, const LaneAddresses& addresses) {
    if (!is_power_of_two_up_to(x, 4))
        throw std::invalid_argument(fmt::format("ldmatrix moves 1, 2 or 4 matrices, not {}", x));
    return wavefronts(x * kMatrixRows, kMatrixRows, kMatrixRowBytes, addresses);
}

Wavefronts vector_wavefronts(int bytes, const LaneAddresses& addresses) {
    require_width(bytes);
    return wavefronts(kWarpLanes, phase_lanes(bytes), bytes, addresses);
}

Wavefronts load_wavefronts(int bytes, const LaneAddresses& addresses) {
    require_width(bytes);
    const bool joined = bytes > kBankBytes && (neighbours_share(1, addresses) || neighbours_share(2, addresses));
    return wavefronts(kWarpLanes, phase_lanes(bytes) * (joined ? 2 : 1), bytes, addresses);
}

void add_instruction(SharedAccess& access, const Wavefronts& wavefronts, int times) {
    if (wavefronts.ideal == 0) return;
    access.instructions += times;
    access.wavefronts += std::int64_t{times} * wavefronts.count;
    access.ideal += std::int64_t{times} * wavefronts.ideal;
    if (wavefronts.count > access.worst.count) access.worst = wavefronts;
}

double mainloop_slowdown(std::span<const SharedAccess> accesses) {
    std::int64_t wavefronts = 0, ideal = 0;
    for (const SharedAccess& access : accesses) {
        if (!access.in_mainloop) continue;
        wavefronts += access.wavefronts;
        ideal += access.ideal;
    }
    return ideal > 0 ? static_cast<double>(wavefronts) / static_cast<double>(ideal) : 1.0;
}

}  // namespace jitgemm
