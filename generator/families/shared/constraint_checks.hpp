#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/families/shared/rasterization.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// \file Rules that kernels of many families share. Each check adds the violated rules, with their numbers.

using Reasons = std::vector<std::string>;

/// C and D in f16, bf16 or f32; with `has_8_bits` D in e4m3, e5m2, s8 or s32, too.
void check_outputs(Reasons& reasons, std::string_view family, const GemmSpec& spec, bool has_8_bits = false);

void check_range(Reasons& reasons, std::string_view name, int value, int least, int most);
void check_divides(Reasons& reasons, std::string_view whole_name, int whole, std::string_view part_name, int part);
/// Raster groups have 1 to 1024 rows of tiles, and fewer than 2^32 tiles each: blocks compute them in 32 bits.
void check_rasterization(Reasons& reasons, const RasterOrder& order, const TileShape& block, const GemmSpec& spec);
/// The widest groups that fit for all extents, with block tiles of 8 or more.
inline constexpr int kGroupOfAnyExtents = 16;

void check_grid(Reasons& reasons, const GemmSpec& spec, GridRule grid);

}  // namespace jitgemm
