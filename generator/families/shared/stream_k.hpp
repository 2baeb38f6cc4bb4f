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

/// How stream-K deals a problem's tiles out to clusters, as templates/scheduler/stream_k_walk.cuh does it (Osama et
/// al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU", PPoPP 2023):
/// the k-tiles of the first `streamed` tiles in equal shares, the others a tile at a time. Blocks of a kernel without
/// clusters are clusters of one.
struct StreamK {
    std::int64_t clusters = 1;
    std::int64_t tiles = 0;    ///< of a cluster each
    std::int64_t k_tiles = 1;  ///< of a tile
    std::int64_t streamed = 0;

    /// The first of the streamed tiles' k-tiles, laid end to end, that is a cluster's.
    [[nodiscard]] std::int64_t share_begin(std::int64_t cluster) const;
    /// The cluster that has a streamed tile's last k-tile, and with it the sums.
    [[nodiscard]] std::int64_t last_of(std::int64_t tile) const;
    /// The cluster that stores a tile.
    [[nodiscard]] std::int64_t taker_of(std::int64_t tile) const {
        return tile < streamed ? last_of(tile) : (tile - streamed) % clusters;
    }
    /// The most clusters that leave sums of one tile to another.
    [[nodiscard]] std::int64_t most_partial_sums() const;
    /// Clusters that leave sums to another.
    [[nodiscard]] std::int64_t partial_sums() const;
    /// Clusters that have something to do at once.
    [[nodiscard]] std::int64_t clusters_at_work() const { return streamed != 0 ? clusters : std::min(tiles, clusters); }
    /// Tiles that a cluster takes whole.
    [[nodiscard]] std::int64_t whole_tiles_per_cluster() const { return (tiles - streamed) / clusters; }
};

/// All tiles whole; of nonsense at least one cluster.
[[nodiscard]] StreamK whole_tiles(std::int64_t tiles, std::int64_t k_tiles, std::int64_t clusters);
/// Those of them streamed that are left over from whole waves, and one wave more; none where a tile has too few k-tiles
/// for two pieces.
[[nodiscard]] StreamK streamed_tiles(StreamK whole);

/// Numbers of clusters worth a candidate, given the deal to all that the GPU holds at once: all of them with equal
/// shares; or, of tiles that many clusters share, as many that each has the same part of one. None where tiles come out
/// nearly even.
[[nodiscard]] std::vector<std::int64_t> stream_k_choices(const StreamK& deal);

/// The parameter of a family whose configs have `stream_k`, the number of blocks.
template <typename Config>
constexpr ConfigParameter<Config> stream_k_parameter() {
    return number_parameter<&Config::stream_k>("stream_k", "streamk", "0", "a number of blocks, 0 for none");
}

/// The number of blocks, and of the k-tiles that they share.
void check_stream_k(Reasons& reasons, int blocks, const StreamK& deal);

/// So many persistent blocks, of which some wait for others of lower index.
void launch_streamed(KernelEntry& gemm, int blocks);

/// What an anatomy says of it, whose number of blocks in a cluster is known.
void describe_stream_k(KernelAnatomy& anatomy, int blocks, const StreamK& deal);

/// Bytes of what blocks leave to others: the sums of a block tile each,
[[nodiscard]] std::int64_t stream_k_sum_bytes(int blocks, const TileShape& block, DataType accumulator);
/// and a counter for each 16 rows that a warp has of them, where warps have `warp_n` columns:
/// templates/scheduler/partial_sums.cuh.
[[nodiscard]] std::int64_t stream_k_counter_bytes(int blocks, const TileShape& block, int warp_n);

}  // namespace jitgemm
