#pragma once

#include "runtime/emulator/ptx.hpp"

#include <cstdint>

/// \file One 64-bit generic address names every memory, as in PTX ("Generic Addressing"). Local, shared and parameter
/// memory each have a window of 4 GiB, and global memory lies beyond. Nothing lies below, so that null faults.

namespace jitgemm::emulator {

inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kLocalWindow = 1 * kWindowBytes;
inline constexpr std::uint64_t kSharedWindow = 2 * kWindowBytes;
inline constexpr std::uint64_t kParamWindow = 3 * kWindowBytes;
inline constexpr std::uint64_t kFirstGlobalAddress = 16 * kWindowBytes;
/// Each device's memory has its own region. A pointer of another device therefore faults.
inline constexpr std::uint64_t kGlobalRegionBytes = std::uint64_t{1} << 47;
inline constexpr std::uint64_t kGlobalRegions = std::uint64_t{1} << 15;

// An address within the shared window is (block rank + 1, offset), as mapa makes it, or (0, offset) for the block's own
// memory.
inline constexpr int kSharedRankShift = 24;
inline constexpr std::uint64_t kSharedOffsetMask = (std::uint64_t{1} << kSharedRankShift) - 1;

/// The .shared::cluster address of an offset in the shared memory of the block with this rank.
[[nodiscard]] constexpr std::uint64_t cluster_address(int rank, std::uint64_t offset) {
    return static_cast<std::uint64_t>(rank + 1) << kSharedRankShift | offset;
}

/// The number to add to an address of a space to make it generic; 0 for global and constant, which are generic already.
[[nodiscard]] constexpr std::uint64_t window_of(ptx::StateSpace space) {
    switch (space) {
        case ptx::StateSpace::local: return kLocalWindow;
        case ptx::StateSpace::shared:
        case ptx::StateSpace::cluster: return kSharedWindow;
        case ptx::StateSpace::param: return kParamWindow;
        default: return 0;
    }
}

/// The space of a generic address. Constants count as global, and shared memory of other blocks as shared.
[[nodiscard]] constexpr ptx::StateSpace space_of(std::uint64_t generic_address) {
    switch (generic_address / kWindowBytes) {
        case kLocalWindow / kWindowBytes: return ptx::StateSpace::local;
        case kSharedWindow / kWindowBytes: return ptx::StateSpace::shared;
        case kParamWindow / kWindowBytes: return ptx::StateSpace::param;
        default: return ptx::StateSpace::global;
    }
}

}  // namespace jitgemm::emulator
