#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/tile_index.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"

namespace jitgemm {

/// \file The tiles that a launch deals out: those of D, or of a symmetric D the tiles of the squares on and above its
/// diagonal, in the rectangle that rows of these squares make (templates/scheduler/triangle.cuh). Tiles are those of
/// clusters.

/// Rows and columns of such a square.
[[nodiscard]] std::int64_t square_of(const WgmmaWarpSpecializedConfig& c);
/// Whether a square holds whole tiles.
[[nodiscard]] bool has_squares(const WgmmaWarpSpecializedConfig& c);
/// Whether a warp's slices are whole, and lie in squares on the diagonal of slices.
[[nodiscard]] bool has_mirrors(const WgmmaWarpSpecializedConfig& c, const WgmmaGeometry& g);

[[nodiscard]] TileIndex dealt_tiles(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c);
/// The place among them of a tile of D.
[[nodiscard]] TileIndex place_among_dealt(TileIndex tile, const GemmSpec& spec, const WgmmaWarpSpecializedConfig& c);

}  // namespace jitgemm
