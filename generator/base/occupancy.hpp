#pragma once

#include "generator/base/arch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// The resources of an SM that one block takes.
struct BlockDemand {
    int threads = 0;
    int registers = 0;  ///< per thread
    std::int64_t shared_bytes = 0;
};

/// The number of blocks that an SM could hold by each of its resources alone.
struct Occupancy {
    int by_registers = 0;
    int by_shared = 0;
    int by_threads = 0;
    int by_slots = 0;

    /// Blocks that fit at once: the least of the four numbers.
    [[nodiscard]] int blocks() const;
    /// The resources that allow no more blocks: "registers", "shared memory", "threads", "block slots".
    [[nodiscard]] std::vector<std::string> limits() const;
};

/// Registers are allotted to warps in units of 256, eight per thread. Each block's shared memory includes the driver's
/// part. All numbers are zero for a block without threads.
[[nodiscard]] Occupancy occupancy(const BlockDemand& block, const Arch& arch);

/// The same for a family's geometry, which estimates its registers. A thread has no more than the architecture allows.
template <typename Geometry>
[[nodiscard]] Occupancy estimated_occupancy(const Geometry& g, const Arch& arch) {
    const int registers = std::min(g.registers(), arch.max_registers_per_thread);
    return occupancy({.threads = g.threads, .registers = registers, .shared_bytes = g.shared_bytes}, arch);
}

}  // namespace jitgemm
