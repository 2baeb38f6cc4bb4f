#include "generator/base/spread_blocks.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>
#include <variant>

namespace jitgemm {

bool is_spread(const KernelEntry& entry) {
    return entry.programmatic_launch && !std::holds_alternative<PersistentBlocks>(entry.grid.blocks) &&
           entry.function != kSplittingFunction;
}

int most_spread_blocks(const KernelEntry& entry) {
    return entry.function == kMultiplyingFunction ? kMostSpreadBlocks : kMostSpreadPasses;
}

int spreading_bytes(std::int64_t blocks, int most, int sm_count, const Arch& arch) {
    if (blocks <= 0 || blocks > std::int64_t{most} * sm_count) return 0;
    const auto share = static_cast<int>(ceil_div(blocks, std::int64_t{sm_count}));
    return arch.shared_bytes_per_sm / (share + 1) + 1 - arch.shared_reserved_per_block;
}

int launched_shared_bytes(const KernelEntry& entry, std::int64_t blocks, const GpuModel& gpu) {
    if (!is_spread(entry)) return entry.shared_bytes;
    const int cluster = cluster_blocks(entry.cluster);
    const int reached = resident_clusters(gpu, cluster) * cluster;
    return std::max(entry.shared_bytes, spreading_bytes(blocks, most_spread_blocks(entry), reached, *gpu.arch));
}

int most_shared_bytes(const KernelEntry& entry, const Arch& arch) {
    return is_spread(entry) ? std::max(entry.shared_bytes, spreading_bytes(1, 1, 1, arch)) : entry.shared_bytes;
}

}  // namespace jitgemm
