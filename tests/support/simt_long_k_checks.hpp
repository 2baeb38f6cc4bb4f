#pragma once

#include "tests/support/kernel_checks.hpp"

#include <array>
#include <string_view>
#include <vector>

/// \file What the tests of simt_long_k on a GPU and on the emulator share.

namespace jitgemm::testing {

/// Lanes along one way, two and all three, thread tiles that come in quads, in pairs and one by one, rows of k shorter
/// and longer than the block has threads, few and many stages, splits that share K evenly and more of them than there
/// are k-tiles.
inline constexpr std::array<std::string_view, 7> kLongKVariants{
    "thread=8x8,lanes=4x8x1,warps=4,block_k=32,stages=3,split_k=3",
    "thread=3x5,lanes=1x1x32,warps=2,block_k=512,stages=2,split_k=5",
    "thread=10x9,lanes=4x4x2,warps=8,block_k=64,stages=3,split_k=2",
    "thread=16x8,lanes=2x8x2,warps=2,block_k=64,stages=4,split_k=1",
    "thread=2x6,lanes=2x2x8,warps=4,block_k=128,stages=5,min_blocks_per_sm=2,split_k=40",
    "thread=1x1,lanes=8x1x4,warps=1,block_k=64,stages=2,split_k=7",
    "thread=4x6,lanes=1x2x16,warps=2,block_k=128,stages=8,split_k=33"};

/// Every variant in one layout over sizes m, n, k; C's and D's types, D's order, padding, alpha and beta change from
/// one variant to the next and with the layout. CHECKs that verify() finds each right.
void check_long_k_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes,
                           Share share = Share::all);

}  // namespace jitgemm::testing
