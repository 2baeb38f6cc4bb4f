#include "generator/layout/bank_conflicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace jitgemm {
namespace {

constexpr int kPhaseBytes = kSharedBanks * kBankBytes;
constexpr int kMatrixRows = 8;
constexpr int kMatrixRowBytes = 16;

/// The words a phase wants of each bank. Called for every candidate kernel: fixed arrays, no allocation.
class Phase {
public:
    void want(int word) {
        const auto bank = static_cast<std::size_t>(word % kSharedBanks);
        const auto begin = words_[bank].begin();
        const auto end = begin + wanted_[bank];
        if (std::find(begin, end, word) != end) return;
        words_[bank][wanted_[bank]++] = word;
        busiest_ = std::max<int>(busiest_, wanted_[bank]);
    }
    [[nodiscard]] int wavefronts() const { return busiest_; }

private:
    // A lane's words are neighbours, so it wants at most one of each bank.
    std::array<std::array<int, kWarpLanes>, kSharedBanks> words_;  // the first wanted_[bank] of each count
    std::array<std::uint8_t, kSharedBanks> wanted_{};
    int busiest_ = 0;
};

int phase_wavefronts(int first_lane, int lanes, int bytes, const LaneAddresses& addresses) {
    Phase phase;
    for (int lane = first_lane; lane < first_lane + lanes; ++lane) {
        const int address = addresses[static_cast<std::size_t>(lane)];
        if (address < 0) continue;
        const int last_word = (address + bytes - 1) / kBankBytes;
        for (int word = address / kBankBytes; word <= last_word; ++word) phase.want(word);
    }
    return phase.wavefronts();
}

Wavefronts wavefronts(int all_lanes, int bytes, const LaneAddresses& addresses) {
    const int lanes = std::min(all_lanes, kPhaseBytes / std::max(bytes, kBankBytes));
    Wavefronts sum;
    for (int lane = 0; lane < all_lanes; lane += lanes) {
        const int count = phase_wavefronts(lane, lanes, bytes, addresses);
        sum.count += count;
        sum.ideal += count > 0 ? 1 : 0;
    }
    return sum;
}

bool is_power_of_two_up_to(int value, int most) { return value >= 1 && value <= most && (value & (value - 1)) == 0; }

}  // namespace

Wavefronts matrix_wavefronts(int x, const LaneAddresses& addresses) {
    if (!is_power_of_two_up_to(x, 4))
        throw std::invalid_argument(fmt::format("ldmatrix moves 1, 2 or 4 matrices, not {}", x));
    return wavefronts(x * kMatrixRows, kMatrixRowBytes, addresses);
}

Wavefronts vector_wavefronts(int bytes, const LaneAddresses& addresses) {
    if (!is_power_of_two_up_to(bytes, 16))
        throw std::invalid_argument(fmt::format("a lane moves 1, 2, 4, 8 or 16 bytes, not {}", bytes));
    return wavefronts(kWarpLanes, bytes, addresses);
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

int ldmatrix_wavefronts(int x, const LaneAddress& byte_address) {
    return matrix_wavefronts(x, lane_addresses(byte_address)).count;
}

int access_wavefronts(int bytes, const LaneAddress& byte_address) {
    return vector_wavefronts(bytes, lane_addresses(byte_address)).count;
}

}  // namespace jitgemm
