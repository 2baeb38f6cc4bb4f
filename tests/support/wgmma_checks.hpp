#pragma once

#include "tests/support/kernel_checks.hpp"

#include <array>
#include <span>
#include <string_view>

/// \file What the tests of wgmma_warp_specialized on a GPU and on the emulator share.

namespace jitgemm::testing {

/// All schedules, one to three consumers along M and along N, clusters of every shape, slices of every width with a
/// rest and without, both stores, every order of tiles; stream-K with shares of less than a tile and of
/// more, in every schedule; D^T in place of D; blocks of one tile.
inline constexpr std::array<std::string_view, 36> kWgmmaVariants{
    "block=128x128x64,warpgroup=64x128,stages=3",
    "block=128x256x64,warpgroup=64x256,stages=4,cluster=2x1",
    "block=256x192x64,warpgroup=128x192,stages=3,cluster=1x2,rasterization=zigzag,group=3",
    "block=128x384x64,warpgroup=128x192,stages=3,cluster=2x1,rasterization=zigzag,group=2",
    "block=256x104x64,warpgroup=128x104,schedule=overlapped,stages=3,slices=3",
    "block=128x72x64,warpgroup=128x72,schedule=overlapped,stages=4,store=smem,cluster=1x2",
    "block=128x176x64,warpgroup=128x176,schedule=pingpong,stages=4,rasterization=grouped_n,group=2",
    "block=64x64x128,warpgroup=64x64,schedule=pingpong,stages=4,slices=1,cluster=2x1,rasterization=row",
    "block=64x256x64,warpgroup=64x128,stages=4,slices=4",
    "block=64x24x64,warpgroup=64x24,stages=8,cluster=2x1,rasterization=row",
    "block=192x104x64,warpgroup=64x104,stages=4,rasterization=row",
    "block=128x128x64,warpgroup=64x128,stages=6,store=smem,cluster=2x2",
    "block=64x8x64,warpgroup=64x8,stages=8,rasterization=column",
    "block=64x40x64,warpgroup=64x40,schedule=pingpong,stages=6,dependent_launch=1",
    "block=64x72x64,warpgroup=64x72,stages=4,cluster=4x2",
    "block=256x152x64,warpgroup=128x152,schedule=overlapped,stages=3,slices=1,cluster=2x4",
    "block=128x40x64,warpgroup=64x40,stages=4,store=smem,cluster=4x1",
    "block=64x56x64,warpgroup=64x56,schedule=pingpong,stages=5,cluster=1x4",
    "block=128x208x64,warpgroup=64x208,stages=4,store=smem,dependent_launch=1",
    "block=128x64x64,warpgroup=64x64,stages=4,stream_k=7",
    "block=128x48x64,warpgroup=128x48,schedule=pingpong,stages=6,stream_k=10,cluster=2x1",
    "block=128x56x64,warpgroup=128x56,schedule=overlapped,stages=5,rasterization=row,stream_k=4",
    "block=64x128x64,warpgroup=64x64,stages=4,stream_k=9,store=smem",
    "block=256x40x64,warpgroup=128x40,schedule=overlapped,stages=4,stream_k=6,cluster=1x2,store=smem",
    "block=128x72x64,warpgroup=64x72,swap_ab=1,stages=4,slices=3",
    "block=64x152x64,warpgroup=64x152,schedule=pingpong,swap_ab=1,stages=4,slices=2,cluster=1x2",
    "block=128x48x64,warpgroup=128x48,schedule=overlapped,swap_ab=1,stages=4,cluster=2x2",
    "block=64x128x64,warpgroup=64x64,swap_ab=1,stages=3,slices=1",
    "block=64x136x64,warpgroup=64x136,swap_ab=1,stages=4,cluster=4x2",
    "block=128x104x64,warpgroup=128x104,schedule=pingpong,swap_ab=1,stages=4,stream_k=7",
    "block=128x72x64,warpgroup=64x72,stages=4,persistent=0",
    "block=64x48x64,warpgroup=64x48,stages=3,persistent=0,store=smem,dependent_launch=1",
    "block=64x152x64,warpgroup=64x152,stages=4,persistent=0,swap_ab=1,rasterization=row",
    "block=64x64x64,warpgroup=64x64,stages=4,cluster=2x1,dependent_launch=1,early=b",
    "block=128x56x64,warpgroup=128x56,schedule=overlapped,stages=5,stream_k=6,dependent_launch=1,early=a,"
    "cluster=1x2",
    "block=64x40x64,warpgroup=64x40,schedule=pingpong,swap_ab=1,stages=3,dependent_launch=1,early=ab"};

/// A from registers in every schedule, one and two wgmmas of a warpgroup's rows, one to three consumers; in
/// clusters, with stream-K, of D^T.
inline constexpr std::array<std::string_view, 12> kWgmmaRegisterVariants{
    "block=128x72x64,warpgroup=64x72,stages=3,a_source=rmem",
    "block=128x64x64,warpgroup=64x64,stages=3,cluster=2x1,a_source=rmem",
    "block=192x40x64,warpgroup=64x40,stages=3,a_source=rmem",
    "block=128x104x64,warpgroup=128x104,stages=3,a_source=rmem",
    "block=64x40x64,warpgroup=64x40,schedule=pingpong,stages=4,a_source=rmem",
    "block=128x64x64,warpgroup=128x64,schedule=pingpong,stages=4,cluster=1x2,a_source=rmem",
    "block=64x24x128,warpgroup=64x24,schedule=pingpong,stages=3,a_source=rmem",
    "block=128x56x64,warpgroup=128x56,schedule=overlapped,stages=4,a_source=rmem",
    "block=256x64x64,warpgroup=128x64,schedule=overlapped,stages=3,a_source=rmem",
    "block=128x40x128,warpgroup=128x40,schedule=overlapped,stages=3,cluster=1x2,a_source=rmem",
    "block=128x64x64,warpgroup=64x64,stages=4,stream_k=9,a_source=rmem",
    "block=64x72x64,warpgroup=64x72,schedule=pingpong,swap_ab=1,stages=3,a_source=rmem"};

/// Without a producer: one to three warpgroups along M and along N, both stores and D^T, two stages and more than K
/// has k-tiles.
inline constexpr std::array<std::string_view, 8> kWgmmaFillingVariants{
    "block=128x72x64,warpgroup=64x72,stages=3,persistent=0,warp_specialized=0",
    "block=64x128x64,warpgroup=64x64,stages=2,persistent=0,warp_specialized=0",
    "block=64x48x64,warpgroup=64x48,stages=8,store=smem,persistent=0,warp_specialized=0,dependent_launch=1",
    "block=192x40x64,warpgroup=64x40,stages=5,persistent=0,warp_specialized=0,rasterization=row",
    "block=128x104x64,warpgroup=128x104,stages=3,persistent=0,warp_specialized=0",
    "block=64x64x64,warpgroup=64x64,stages=4,store=smem,persistent=0,warp_specialized=0",
    "block=64x152x64,warpgroup=64x152,stages=3,persistent=0,warp_specialized=0,swap_ab=1",
    "block=128x64x64,warpgroup=64x64,stages=2,slices=1,persistent=0,warp_specialized=0"};

/// The problem with the pitches of A and B such as TMA can address, where they aren't; those of C and D beside.
[[nodiscard]] GemmSpec with_tma_pitches(const GemmSpec& spec);

/// CHECKs that verify() finds the kernel of these parameters right, with operands that are constant; a config that
/// can't turn the problem around doesn't, one that stores by TMA what it can't does so row by row, one that packs what
/// it should fetch early waits. With stream-K the problem's K is longer, so that there is something to share.
void check_wgmma(Context& context, const GemmSpec& spec, std::string_view parameters,
                 const VerifyOptions& options = {});

/// Of A and B: such as TMA can address, or as the sizes have it, where odd ones are packed first.
enum class Pitches : std::uint8_t { of_tma, as_they_are };

/// Every variant in one layout over sizes m, n, k; C's and D's types, D's order, alpha and beta change from one to the
/// next.
void check_wgmma_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes,
                          Pitches pitches = Pitches::of_tma,
                          std::span<const std::string_view> variants = kWgmmaVariants);

/// As much of D as the sizes say, or at most the tiles of one cluster and a rest: an emulator takes its time.
enum class Reach : std::uint8_t { all, one_cluster };

/// Every variant with a C that lies as D does, in 16 bits and in f32 by turns, with K and without. C comes through the
/// ring where the variant lets it.
void check_wgmma_with_c(Context& context, const Sizes& size,
                        std::span<const std::string_view> variants = kWgmmaVariants, Reach reach = Reach::all);

/// Every variant that has its own way for a C of one row, of D's type and of another, by row and by column. Layouts,
/// types and sizes take turns.
void check_wgmma_with_row_of_c(Context& context, const std::vector<Sizes>& sizes,
                               std::span<const std::string_view> variants = kWgmmaVariants);

}  // namespace jitgemm::testing
