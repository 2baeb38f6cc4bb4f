#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/base/tile_shape.hpp"

#include <cstdint>
#include <vector>

namespace jitgemm {

/// \file The parts that kernels need beyond their own entry if several blocks share the K of a tile
/// (templates/epilogue/split_k_reduce.cuh, workspace_text.hpp), or the K of tiles left over from whole waves
/// (templates/scheduler/remainder_tiles.cuh).

inline constexpr int kReduceThreads =
    64;  ///< of a block that adds partial sums: few, so that a small number of sums reaches all SMs

/// The entry that adds up the partial sums, with the arguments of the kernel that writes them.
[[nodiscard]] KernelEntry reduce_entry(const std::vector<KernelArgument>& arguments);

/// Bytes of all splits' partial sums: f32, rows of D padded to four; 0 for one split.
[[nodiscard]] std::int64_t partial_sum_bytes(const GemmSpec& spec, int splits);

/// Tiles left over from whole waves of this many blocks.
[[nodiscard]] std::int64_t remainder_tiles(const GemmSpec& spec, const TileShape& block, int wave);

/// The entry that adds the cut-off parts of these tiles to D.
[[nodiscard]] KernelEntry add_partials_entry(const std::vector<KernelArgument>& arguments, const TileShape& block,
                                             int wave);

/// Bytes of these parts: f32, whole tiles.
[[nodiscard]] std::int64_t remainder_bytes(const GemmSpec& spec, const TileShape& block, int wave);

}  // namespace jitgemm
