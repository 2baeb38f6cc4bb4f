#pragma once

#include "generator/families/shared/tile_index.hpp"

#include <cstdint>

namespace jitgemm {

/// A Hilbert curve through a rectangle of any size (Cerveny's generalised one, github.com/jakubcerveny/gilbert): from tile (0, 0) to
/// the other end of the longer side, each tile beside the one before it; where one side is even and the other odd there may be one
/// step over a corner. templates/common/hilbert_curve.cuh walks the same one in device code.
[[nodiscard]] TileIndex tile_on_hilbert_curve(std::int64_t place, TileIndex tiles);
[[nodiscard]] std::int64_t place_on_hilbert_curve(TileIndex tile, TileIndex tiles);

}  // namespace jitgemm
