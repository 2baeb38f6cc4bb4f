#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// Chunks of K through shared memory: partial sums of one element of D per thread are accumulated chunk after chunk.
struct SimtOuterProductConfig {
    TileShape block{32, 32, 32};  ///< block tile of D, m by n: as many threads; k: of a chunk

    friend bool operator==(const SimtOuterProductConfig&, const SimtOuterProductConfig&) = default;
};

}  // namespace jitgemm
