#pragma once

#include "generator/base/tile_shape.hpp"

namespace jitgemm {

/// One thread per element of D, both factors from global memory.
struct SimtNaiveConfig {
    TileShape block{32, 32, 0};  ///< block tile of D, m by n: as many threads
    bool coalesced = true;  ///< neighbouring threads lie along a row of D; else along a column, to show the difference

    friend bool operator==(const SimtNaiveConfig&, const SimtNaiveConfig&) = default;
};

}  // namespace jitgemm
