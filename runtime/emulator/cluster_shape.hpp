#pragma once

#include "runtime/emulator/program.hpp"

#include <array>
#include <cstdint>

namespace jitgemm::emulator {

struct LaunchConfig;

inline constexpr int kMaxClusterBlocks =
    16;  ///< 8 on every GPU; more if a function attribute allows it, as jitgemm's have

/// The blocks of a cluster along x, y and z.
struct ClusterShape {
    std::array<std::int64_t, 3> extents{1, 1, 1};
    bool given = false;  ///< by the launch or the entry; else every block is its own cluster
    [[nodiscard]] int blocks() const { return static_cast<int>(extents[0] * extents[1] * extents[2]); }
};

/// The cluster of a launch: that of .reqnctapercluster, else that of the launch. Throws Error if a driver would refuse
/// the launch: clusters before sm_90, of more than 16 blocks, of a size that the entry does not take, or that do not
/// divide the grid (CUDA C++ Programming Guide, "Thread Block Clusters"; PTX ISA 9.0, "Cluster Dimension Directives").
[[nodiscard]] ClusterShape cluster_of(const Function& entry, const LaunchConfig& config, int compute_capability);

}  // namespace jitgemm::emulator
