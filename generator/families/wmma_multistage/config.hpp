#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <cstdint>

namespace jitgemm {

/// The caches that keep the data of a 16-byte cp.async: L1 and L2 (.ca), or L2 only (.cg). Narrower copies have only
/// .ca.
enum class CopyCache : std::uint8_t { ca, cg };

/// Half-precision GEMM on wmma fragments. Every ingredient can be left out, to learn what it brings.
struct WmmaMultistageConfig {
    TileShape block{256, 128, 32};
    TileShape warp{64, 64, 32};  ///< warp.k equals block.k
    TileShape mma{16, 16, 16};   ///< a fragment's, also 32×8×16 and 8×32×16
    int stages = 3;              ///< tiles in shared memory; 1: it is filled, used, and filled again
    int padding = 8;             ///< elements after each row of shared memory, which shift its banks
    bool async = true;           ///< copies by cp.async if the alignment allows it; else through registers
    CopyCache cache = CopyCache::cg;
    int l2_prefetch = 128;      ///< bytes that cp.async has L2 prefetch along: 0, 64, 128 or 256
    bool double_buffer = true;  ///< fragments of the next k-block are loaded before the mma of the current one
    Rasterization rasterization = Rasterization::zigzag;
    int group = 16;  ///< tiles of M or N that are taken together; 1 if the rasterization has no groups

    friend bool operator==(const WmmaMultistageConfig&, const WmmaMultistageConfig&) = default;
};

}  // namespace jitgemm
