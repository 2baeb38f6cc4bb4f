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

/// Passes over the banks for a load or store of 1 to 16 bytes a lane: lanes are served 32 at a time up to 4 bytes, 16 of 8
/// bytes, 8 of 16; those that want different words of one bank one after the other. As access_wavefronts in
/// generator/layout/swizzle.hpp, but for any mask of lanes. A phase with no lane costs nothing.
[[nodiscard]] Wavefronts count_wavefronts(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes);

}  // namespace jitgemm::emulator
