#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"

#include <algorithm>
#include <cstdint>

namespace jitgemm {

/// How stream-K deals a problem's tiles out to clusters, as templates/stream_k_walk.cuh does it (Osama et al., "Stream-K:
/// Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the GPU", PPoPP 2023): the k-tiles of the first
/// `streamed` tiles in equal shares, the others a tile at a time.
struct StreamK {
    std::int64_t clusters = 1;
    std::int64_t tiles = 0;    ///< of a cluster each
    std::int64_t k_tiles = 1;  ///< of a tile
    std::int64_t streamed = 0;

    /// The first of the streamed tiles' k-tiles, laid end to end, that is a cluster's.
    [[nodiscard]] std::int64_t share_begin(std::int64_t cluster) const;
    /// The cluster that has a streamed tile's last k-tile, and with it the sums.
    [[nodiscard]] std::int64_t last_of(std::int64_t tile) const;
    /// The most clusters that leave sums of one tile to another.
    [[nodiscard]] std::int64_t most_partial_sums() const;
    /// Clusters that leave sums to another.
    [[nodiscard]] std::int64_t partial_sums() const;
    /// Clusters that have something to do at once.
    [[nodiscard]] std::int64_t clusters_at_work() const { return streamed != 0 ? clusters : std::min(tiles, clusters); }
    /// Tiles that a cluster takes whole.
    [[nodiscard]] std::int64_t whole_tiles_per_cluster() const { return (tiles - streamed) / clusters; }
};

/// Of a config with stream_k, which may break any rule: what nonsense deals out is at least one cluster.
[[nodiscard]] StreamK stream_k(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& config);
/// Of any config: without stream_k the clusters that the GPU holds at once take whole tiles.
[[nodiscard]] StreamK tile_deal(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& config, const GpuModel& gpu);

}  // namespace jitgemm
