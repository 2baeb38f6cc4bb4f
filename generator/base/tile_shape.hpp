#pragma once

namespace jitgemm {

/// Extents along M, N and K.
struct TileShape {
    int m = 0;
    int n = 0;
    int k = 0;
    friend bool operator==(const TileShape&, const TileShape&) = default;
};

}  // namespace jitgemm
