#pragma once

#include "runtime/emulator/program.hpp"

#include <array>
#include <cstdint>

/// \file What one request of a warp costs the memories of a GPU.

namespace jitgemm::emulator {

using LaneAddresses = std::array<std::uint64_t, kLanes>;

/// Different 32-byte sectors that the lanes of `mask` touch with `bytes` each.
[[nodiscard]] int count_sectors(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes);

struct Wavefronts {
    int actual = 0;
    int ideal = 0;
};

/// Passes over the banks for a load or store of 1, 2, 4, 8 or 16 bytes a lane: vector_wavefronts of
/// generator/layout/bank_conflicts.hpp, for any mask of lanes, with a short way for those that share no bank.
[[nodiscard]] Wavefronts count_wavefronts(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes);

}  // namespace jitgemm::emulator
