#pragma once

#include <cstdint>

namespace jitgemm {

/// A tile of D, or how many there are, counted in tiles.
struct TileIndex {
    std::int64_t m = 0;
    std::int64_t n = 0;
    friend bool operator==(const TileIndex&, const TileIndex&) = default;
};

}  // namespace jitgemm
