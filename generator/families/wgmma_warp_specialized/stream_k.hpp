#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"

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
    /// Tiles that a cluster takes whole.
    [[nodiscard]] std::int64_t whole_tiles_per_cluster() const { return (tiles - streamed) / clusters; }
};

/// Of a config with stream_k.
[[nodiscard]] StreamK stream_k(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& config);

}  // namespace jitgemm
