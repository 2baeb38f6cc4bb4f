#pragma once

#include "generator/families/shared/parameter_table.hpp"

namespace jitgemm {

/// \file Rows of the parameter tables that several SIMT families share.

/// `block`, m by n.
template <typename Config>
inline constexpr ConfigParameter<Config> kSimtBlock2d{"block", "", "<M>x<N>",
                                                      [](TextReader& r, Config& c) { return r.take_shape_2d(c.block); },
                                                      [](const Config& c) { return shape_text_2d(c.block); }};

/// `block`, m by n by k.
template <typename Config>
inline constexpr ConfigParameter<Config> kSimtBlock3d{"block", "", "<M>x<N>x<K>",
                                                      [](TextReader& r, Config& c) { return r.take_shape(c.block); },
                                                      [](const Config& c) { return shape_text(c.block); }};

/// `tile`, m by n.
template <typename Config>
inline constexpr ConfigParameter<Config> kSimtTile{"tile", "tile", "<M>x<N>",
                                                   [](TextReader& r, Config& c) { return r.take_shape_2d(c.tile); },
                                                   [](const Config& c) { return shape_text_2d(c.tile); }};

/// `grid`: the most blocks of a grid-stride kernel.
template <typename Config>
inline constexpr ConfigParameter<Config> kSimtGrid{"grid",
                                                   "grid",
                                                   "a number of blocks, or 0 for one per block tile",
                                                   [](TextReader& r, Config& c) { return r.take_number(c.grid); },
                                                   [](const Config& c) { return std::to_string(c.grid); },
                                                   "1024"};

}  // namespace jitgemm
