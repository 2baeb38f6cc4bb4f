#pragma once

#include "generator/families/shared/parameter_table.hpp"

namespace jitgemm {

/// \file Rows of the parameter tables that several SIMT families share.

template <typename Config>
inline constexpr auto kSimtBlock2d = shape_2d_parameter<&Config::block>("block", "");

template <typename Config>
inline constexpr auto kSimtBlock3d = shape_parameter<&Config::block>("block", "");

/// The tile of a thread.
template <typename Config>
inline constexpr auto kSimtTile = shape_2d_parameter<&Config::tile>("tile", "tile");

/// The most blocks of a grid-stride kernel.
template <typename Config>
inline constexpr auto kSimtGrid = number_parameter<&Config::grid>("grid", "grid", "1024",
                                                                  "a number of blocks, or 0 for one per block tile");

}  // namespace jitgemm
