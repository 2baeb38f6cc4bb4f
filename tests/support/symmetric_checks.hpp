#pragma once

#include "tests/support/kernel_checks.hpp"

#include <array>
#include <string_view>

/// \file What the tests of symmetric products on a GPU and on the emulator share.

namespace jitgemm::testing {

/// Of wgmma: all schedules, squares of one tile and of several, down and across, in clusters and without; one slice and
/// several, every order of tiles, stream-K, A from registers.
inline constexpr std::array<std::string_view, 14> kSymmetricVariants{
    "block=64x64x64,warpgroup=64x64,schedule=pingpong,stages=4",
    "block=128x128x64,warpgroup=128x128,schedule=pingpong,stages=4,slices=1",
    "block=128x256x64,warpgroup=64x256,stages=3,slices=1,cluster=2x1",
    "block=256x128x64,warpgroup=128x128,schedule=overlapped,stages=3,slices=1,cluster=1x2",
    "block=128x64x64,warpgroup=128x64,schedule=overlapped,stages=4,slices=2,rasterization=row",
    "block=192x64x64,warpgroup=64x64,stages=3,slices=2,rasterization=zigzag,group=2",
    "block=64x32x64,warpgroup=64x32,stages=4,slices=3,cluster=1x2,rasterization=column",
    "block=64x16x64,warpgroup=64x16,stages=6,rasterization=grouped_n,group=3",
    "block=64x128x64,warpgroup=64x64,stages=4,cluster=2x1,slices=1",
    "block=64x64x64,warpgroup=64x64,stages=4,cluster=2x4",
    "block=128x128x64,warpgroup=64x128,stages=3,slices=1,stream_k=5",
    "block=128x64x64,warpgroup=128x64,schedule=pingpong,stages=4,stream_k=6,cluster=2x1",
    "block=128x64x64,warpgroup=128x64,schedule=overlapped,stages=4,stream_k=4",
    "block=128x64x64,warpgroup=64x64,stages=3,a_source=rmem"};

/// D = A · A^T of an m × k matrix with A's order of the layout, tn or nt.
[[nodiscard]] GemmSpec symmetric_of(GemmLayout layout, std::int64_t m, std::int64_t k, DataType type = DataType::bf16);

/// The config of a variant. It stores D row by row where TMA cannot.
[[nodiscard]] KernelConfig symmetric_config(const GemmSpec& spec, std::string_view variant);

/// CHECKs that verify() finds the kernel right, and that D equals its transpose bit for bit. If the sums of all tiles
/// have one order, D also equals the full product of the same config.
void check_symmetric(Context& context, const GemmSpec& spec, const KernelConfig& config,
                     const VerifyOptions& options = {});
/// The same of the heuristic's choice, whose full product may have another kernel.
void check_symmetric_choice(Context& context, const GemmSpec& spec, const VerifyOptions& options = {});

}  // namespace jitgemm::testing
