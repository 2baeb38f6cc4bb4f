#pragma once

#include "tests/support/kernel_checks.hpp"

#include <array>
#include <string_view>
#include <vector>

/// \file What the tests of simt_hierarchical on a GPU and on the emulator share.

namespace jitgemm::testing {

/// Tiles of every shape, both ways to copy and to transpose, with and without double buffering, every order of blocks
/// and of sums, split K, remainder tiles, rows of D through shared memory.
inline constexpr std::array<std::string_view, 11> kHierarchicalVariants{
    "block=64x64x16,warp=32x32,thread=8x4,copy_slices=1,min_blocks_per_sm=2,k_lanes=4",
    "block=64x64x16,warp=32x64,thread=8x8,copy_slices=15,min_blocks_per_sm=1,k_lanes=8,rasterization=zigzag,group=2,"
    "order=even",
    "block=128x32x8,warp=64x16,thread=8x4,copy_slices=3,min_blocks_per_sm=2,stages=4,rasterization=column",
    "block=64x64x16,warp=32x32,thread=4x8,copy_slices=16,min_blocks_per_sm=1,double_buffer=0,stages=2,rasterization="
    "row",
    "block=128x128x16,warp=64x64,thread=16x8,copy_slices=4,min_blocks_per_sm=1,stages=3,rasterization=grouped_n,group="
    "3,"
    "order=right",
    "block=32x32x16,warp=16x32,thread=4x4,copy_slices=2,min_blocks_per_sm=1,copy=reg,stages=2",
    "block=32x64x16,warp=16x32,thread=4x4,copy_slices=1,min_blocks_per_sm=1,split_k=3",
    "block=32x32x16,warp=16x32,thread=4x4,copy_slices=2,min_blocks_per_sm=1,order=right,blocks_per_wave=7",
    "block=64x64x16,warp=32x32,thread=8x4,copy_slices=1,min_blocks_per_sm=2,store=smem",
    "block=64x32x16,warp=64x8,thread=4x4,copy_slices=1,min_blocks_per_sm=2,store=smem,stages=2,double_buffer=0",
    "block=128x64x16,warp=64x32,thread=8x8,copy_slices=2,min_blocks_per_sm=1,store=smem,blocks_per_wave=7"};

/// Every variant in one layout over sizes m, n, k; types, C, alpha, beta and D's order change from one to the next.
/// CHECKs that verify() finds each right. 16-bit operands go through registers whatever the variant says.
void check_hierarchical_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes,
                                 Share share = Share::all);

}  // namespace jitgemm::testing
