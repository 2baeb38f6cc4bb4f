#pragma once

#include "tests/support/kernel_checks.hpp"

#include <array>
#include <string_view>
#include <vector>

/// \file What the tests of mma_sliced_k on a GPU and on the emulator share.

namespace jitgemm::testing {

/// Both operands long, every tile of it and of the few, one warp and sixteen, shallow rings and deep ones, launches
/// that wait and that don't.
inline constexpr std::array<std::string_view, 8> kSlicedKVariants{
    "block=16x8x512,swap_ab=1,stages=6",        "block=32x16x256,swap_ab=1,stages=3,early=1",
    "block=64x32x256,stages=3,early=1",         "block=16x32x128,stages=4,dependent_launch=0",
    "block=64x8x64,swap_ab=1,stages=5,early=1", "block=32x8x1024,stages=2",
    "block=16x16x192,swap_ab=1,stages=7",       "block=64x32x128,swap_ab=1,stages=2,dependent_launch=0"};

/// The long extent of a problem, and K. Of the few rows there are from one to as many as a tile holds.
struct LongProblem {
    std::int64_t extent, k;
};

/// CHECKs that verify() finds every variant right in one layout; C's and D's types, D's order, alpha and beta change
/// from one problem to the next.
void check_sliced_k_variants(Context& context, GemmLayout layout, const std::vector<LongProblem>& problems,
                             Share share = Share::all);
/// One of them, with constant operands.
void check_sliced_k(Context& context, const GemmSpec& spec, std::string_view parameters,
                    const VerifyOptions& options = {});

}  // namespace jitgemm::testing
