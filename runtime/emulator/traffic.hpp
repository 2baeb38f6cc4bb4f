#pragma once

#include "runtime/emulator/program.hpp"

#include <array>
#include <cstdint>

/// \file The cost of one warp's request in a GPU's memories.

namespace jitgemm::emulator {

using LaneAddresses = std::array<std::uint64_t, kLanes>;

/// The number of different 32-byte sectors that the lanes of `mask` touch with `bytes` each.
[[nodiscard]] int count_sectors(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes);

/// The sectors of a request of cp.async.cg, 16 bytes per lane past the L1 cache, as an H200 counts them
/// (docs/emulator-counters.md). Both numbers are the sectors touched if sources and destinations begin at multiples of
/// 32 bytes.
struct CopySectors {
    /// Pieces of 32 bytes that the L1 passes on. Two lanes of one 128-byte line make one piece if their destinations
    /// are in one line.
    int l1 = 0;
    /// Sectors fetched. A sector whose halves go to different 32 bytes of shared memory is fetched twice.
    int l2 = 0;
};
[[nodiscard]] CopySectors count_copy_sectors(const LaneAddresses& sources, const LaneAddresses& destinations,
                                             Mask mask);

struct Wavefronts {
    int actual = 0;
    int ideal = 0;
};

/// Passes over the banks for a store or copy of 1, 2, 4, 8 or 16 bytes per lane, or for ldmatrix and stmatrix with 16.
/// It is vector_wavefronts of generator/layout/bank_conflicts.hpp for any mask of lanes, with a short way for lanes
/// that share no bank.
[[nodiscard]] Wavefronts count_wavefronts(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes);

/// The same for a load: load_wavefronts there.
[[nodiscard]] Wavefronts count_load_wavefronts(const LaneAddresses& addresses, Mask mask, std::uint32_t bytes);

}  // namespace jitgemm::emulator
