#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/parameter_table.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// The deal of a problem's tiles to clusters, as templates/scheduler/stream_k_walk.cuh does it. Clusters take equal
/// shares of the k-tiles of the first `streamed` tiles, and the other tiles whole. In a kernel without clusters, each
/// block is a cluster. (Osama et al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix
/// Multiplication on the GPU", PPoPP 2023)
struct StreamK {
    std::int64_t clusters = 1;
    std::int64_t tiles = 0;    ///< tiles of one cluster each
    std::int64_t k_tiles = 1;  ///< of a tile
    std::int64_t streamed = 0;

    /// The first k-tile of a cluster's share, with the k-tiles of all streamed tiles end to end.
    [[nodiscard]] std::int64_t share_begin(std::int64_t cluster) const;
    /// The cluster that has a streamed tile's last k-tile. It adds the tile's sums up.
    [[nodiscard]] std::int64_t last_of(std::int64_t tile) const;
    /// The cluster that stores a tile.
    [[nodiscard]] std::int64_t taker_of(std::int64_t tile) const {
        return tile < streamed ? last_of(tile) : (tile - streamed) % clusters;
    }
    /// The largest number of clusters that leave sums of one tile to another cluster.
    [[nodiscard]] std::int64_t most_partial_sums() const;
    /// Clusters that leave sums to another cluster.
    [[nodiscard]] std::int64_t partial_sums() const;
    /// Clusters that work at the same time.
    [[nodiscard]] std::int64_t clusters_at_work() const { return streamed != 0 ? clusters : std::min(tiles, clusters); }
    /// Tiles that a cluster takes whole.
    [[nodiscard]] std::int64_t whole_tiles_per_cluster() const { return (tiles - streamed) / clusters; }
};

/// A deal of whole tiles only; nonsense counts as one cluster.
[[nodiscard]] StreamK whole_tiles(std::int64_t tiles, std::int64_t k_tiles, std::int64_t clusters);
/// The same deal with some tiles streamed: those left over from whole waves, and one wave more. None is streamed if a
/// tile has too few k-tiles for two pieces.
[[nodiscard]] StreamK streamed_tiles(StreamK whole);

/// Numbers of clusters worth a candidate, given the deal to all clusters that the GPU holds at once. Either all
/// clusters take equal shares, or the number lets each have the same part of a tile that many clusters share. Empty if
/// whole tiles come out nearly even.
[[nodiscard]] std::vector<std::int64_t> stream_k_choices(const StreamK& deal);

/// The parameter of a family whose configs have `stream_k`, the number of blocks.
template <typename Config>
constexpr ConfigParameter<Config> stream_k_parameter() {
    return number_parameter<&Config::stream_k>("stream_k", "streamk", "0", "a number of blocks, 0 for none");
}

/// Checks the number of blocks, and of the k-tiles that they share.
void check_stream_k(Reasons& reasons, int blocks, const StreamK& deal);

/// Makes this many blocks persistent. Some of them wait for blocks of lower index.
void launch_streamed(KernelEntry& gemm, int blocks);

/// Describes stream-K in an anatomy whose cluster size is set.
void describe_stream_k(KernelAnatomy& anatomy, int blocks, const StreamK& deal);

/// Bytes that blocks leave to others: the sums of a block tile each.
[[nodiscard]] std::int64_t stream_k_sum_bytes(int blocks, const TileShape& block, DataType accumulator);
/// Bytes of the counters: one for each 16 rows of a warp's sums, if warps have `warp_n` columns
/// (templates/scheduler/partial_sums.cuh).
[[nodiscard]] std::int64_t stream_k_counter_bytes(int blocks, const TileShape& block, int warp_n);

}  // namespace jitgemm
