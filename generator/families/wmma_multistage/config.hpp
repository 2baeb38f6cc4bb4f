#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <cstdint>

namespace jitgemm {

/// Where a 16-byte cp.async leaves what it read: in L1 and L2 (.ca), or in L2 alone (.cg). Narrower ones have only .ca.
enum class CopyCache : std::uint8_t { ca, cg };

/// Half-precision GEMM on wmma fragments, every ingredient of which can be left out: there to learn what each brings.
struct WmmaMultistageConfig {
    TileShape block{256, 128, 32};
    TileShape warp{64, 64, 32};  ///< warp.k equals block.k
    TileShape mma{16, 16, 16};   ///< a fragment's, also 32×8×16 and 8×32×16
    int stages = 3;              ///< tiles in shared memory; 1: it is filled, used, and filled again
    int padding = 8;             ///< elements behind each row of shared memory, which shift its banks
    bool async = true;           ///< copies by cp.async where the alignment allows; else through registers
    CopyCache cache = CopyCache::cg;
    int l2_prefetch = 128;      ///< bytes cp.async asks L2 to fetch along: 0, 64, 128 or 256
    bool double_buffer = true;  ///< fragments of the next k-block are loaded before the mma of the current one
    Rasterization rasterization = Rasterization::zigzag;
    int group = 16;  ///< tiles of M or N that are taken together; 1 where the rasterization has none

    friend bool operator==(const WmmaMultistageConfig&, const WmmaMultistageConfig&) = default;
};

}  // namespace jitgemm
