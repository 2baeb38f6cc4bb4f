#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/kernel_entry.hpp"

#include <cstdint>

namespace jitgemm {

/// \file Blocks of a launch that begins while the previous kernel ends. They start on SMs that this kernel leaves free.
/// Without a limit they gather there, and slow each other down: 129 blocks that transpose an operand took 6 us more
/// where the previous kernel left 6 of 132 SMs free (H200). So a block requests shared memory that it does not
/// use, and an SM has no room for more than its share of the blocks.

/// Most blocks per SM for which that is done. With more, all SMs have blocks anyway. Passes over memory pack operands
/// or add up partial sums. They need all of an SM's warps at smaller shares, so their limit is lower.
inline constexpr int kMostSpreadBlocks = 8;
inline constexpr int kMostSpreadPasses = 5;

/// Whether the blocks of this entry are spread like this. Persistent blocks fill an SM each. gemm_split has shared
/// memory of its own.
[[nodiscard]] bool is_spread(const KernelEntry& entry);

/// Most blocks per SM for which those of this entry are spread.
[[nodiscard]] int most_spread_blocks(const KernelEntry& entry);

/// The shared memory per block that limits each of these SMs to its share of the blocks. The result is 0 if there are
/// no blocks, or if the share is more than `most`.
[[nodiscard]] int spreading_bytes(std::int64_t blocks, int most, int sm_count, const Arch& arch);

/// The dynamic shared memory that a launch of this many blocks requests for each. Clusters may not reach all SMs.
[[nodiscard]] int launched_shared_bytes(const KernelEntry& entry, std::int64_t blocks, const GpuModel& gpu);

/// The most that a launch of this entry may request.
[[nodiscard]] int most_shared_bytes(const KernelEntry& entry, const Arch& arch);

}  // namespace jitgemm
