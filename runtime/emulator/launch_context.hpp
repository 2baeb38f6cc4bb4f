#pragma once

#include "runtime/emulator/cluster_shape.hpp"
#include "runtime/emulator/global_order.hpp"
#include "runtime/emulator/launch.hpp"
#include "runtime/emulator/tensor_core.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace jitgemm::emulator {

/// The state that all blocks of a launch share. No block changes it, except the last two members.
struct LaunchContext {
    const Program& program;
    const LaunchConfig& config;
    const Function& entry;
    ClusterShape cluster;
    MemoryMap memory;
    std::vector<std::uint64_t> constant_doublewords;  ///< the program's, with addresses filled in
    std::vector<std::byte> parameters;
    TensorCoreModel tensor_core_model;
    const StopRequest& stop;
    std::atomic<bool> cancelled{false};  ///< another block failed, or the caller asked to stop
    StrongWords strong_words{};

    [[nodiscard]] int threads_per_block() const {
        return static_cast<int>(config.block[0] * config.block[1] * config.block[2]);
    }
    [[nodiscard]] int warps_per_block() const { return (threads_per_block() + kLanes - 1) / kLanes; }
    /// The agents of a block in the order of accesses: its warps, then its asynchronous agent.
    [[nodiscard]] int agents_per_block() const { return warps_per_block() + 1; }
    /// Clusters of the grid along x, y and z.
    [[nodiscard]] std::array<std::int64_t, 3> clusters() const {
        return {config.grid[0] / cluster.extents[0], config.grid[1] / cluster.extents[1],
                config.grid[2] / cluster.extents[2]};
    }
};

/// (x,y,z) of the element with this index, x fastest, and back.
[[nodiscard]] constexpr std::array<std::int64_t, 3> unflatten(std::int64_t index,
                                                              const std::array<std::int64_t, 3>& extents) {
    return {index % extents[0], index / extents[0] % extents[1], index / extents[0] / extents[1]};
}
[[nodiscard]] constexpr std::int64_t flatten(const std::array<std::int64_t, 3>& position,
                                             const std::array<std::int64_t, 3>& extents) {
    return position[0] + extents[0] * (position[1] + extents[1] * position[2]);
}

}  // namespace jitgemm::emulator
