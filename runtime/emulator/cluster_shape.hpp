#pragma once

#include "runtime/emulator/program.hpp"

#include <array>
#include <cstdint>

namespace jitgemm::emulator {

struct LaunchConfig;

inline constexpr int kMaxClusterBlocks =
    16;  ///< 8 on every GPU, more where the function is allowed them, as jitgemm's are

/// How many blocks of a launch form a cluster along x, y and z.
struct ClusterShape {
    std::array<std::int64_t, 3> extents{1, 1, 1};
    bool given = false;  ///< by the launch or the entry; else every block is a cluster of its own
    [[nodiscard]] int blocks() const { return static_cast<int>(extents[0] * extents[1] * extents[2]); }
};

/// The cluster an entry is launched with: what .reqnctapercluster says, or else what the launch asks for. Throws Error
/// where a driver would refuse the launch: clusters before sm_90, of more than 16 blocks, other than the entry takes,
/// or that do not divide the grid (CUDA C++ Programming Guide, "Thread Block Clusters"; PTX ISA 9.0, "Cluster Dimension
/// Directives").
[[nodiscard]] ClusterShape cluster_of(const Function& entry, const LaunchConfig& config, int compute_capability);

}  // namespace jitgemm::emulator
