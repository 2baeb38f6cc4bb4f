#include "runtime/emulator/cluster_shape.hpp"

#include "jitgemm/error.hpp"
#include "runtime/emulator/launch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::emulator {
namespace {

using Extents = std::array<std::int64_t, 3>;

constexpr int kFirstCapability = 90;
constexpr Extents kSingle{1, 1, 1};

std::string text_of(const Extents& extents) { return fmt::format("{}x{}x{}", extents[0], extents[1], extents[2]); }

void check_size(const Extents& cluster) {
    const auto [least, most] = std::minmax_element(cluster.begin(), cluster.end());
    if (*least < 1) throw Error(fmt::format("a cluster of {} blocks: an extent is at least 1", text_of(cluster)));
    // One by one first, as the product of three could overflow.
    if (*most > kMaxClusterBlocks || cluster[0] * cluster[1] * cluster[2] > kMaxClusterBlocks) {
        throw Error(fmt::format("a cluster of {} blocks is more than the {} that a GPU takes", text_of(cluster),
                                kMaxClusterBlocks));
    }
}

void check_entry(const Function& entry, const ClusterShape& shape) {
    if (entry.explicit_cluster && !shape.given) {
        throw Error(fmt::format("{} is launched without a cluster, where its .explicitcluster needs one", entry.name));
    }
    if (entry.required_cluster && shape.extents != *entry.required_cluster) {
        throw Error(fmt::format("a cluster of {} blocks, where {} needs {}", text_of(shape.extents), entry.name,
                                text_of(*entry.required_cluster)));
    }
    if (entry.max_cluster > 0 && shape.blocks() > entry.max_cluster) {
        throw Error(fmt::format("a cluster of {} blocks is more than the {} that {} takes", text_of(shape.extents),
                                entry.max_cluster, entry.name));
    }
}

void check_grid(const Extents& grid, const Extents& cluster) {
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
        if (grid[axis] % cluster[axis] == 0) continue;
        throw Error(fmt::format("a grid of {} blocks does not divide into clusters of {}: {} is no multiple of {}",
                                text_of(grid), text_of(cluster), grid[axis], cluster[axis]));
    }
}

}  // namespace

ClusterShape cluster_of(const Function& entry, const LaunchConfig& config, int compute_capability) {
    ClusterShape shape;
    std::copy(config.cluster.begin(), config.cluster.end(), shape.extents.begin());
    shape.given = shape.extents != kSingle;
    if (!shape.given && entry.required_cluster) shape = {*entry.required_cluster, true};
    if (shape.given && compute_capability < kFirstCapability) {
        throw Error(fmt::format("a cluster of {} blocks on sm_{}: clusters need sm_{} or later", text_of(shape.extents),
                                compute_capability, kFirstCapability));
    }
    check_size(shape.extents);
    check_entry(entry, shape);
    check_grid(config.grid, shape.extents);
    return shape;
}

}  // namespace jitgemm::emulator
