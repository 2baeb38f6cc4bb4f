#pragma once

#include "runtime/context/context_state.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/support/specs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

/// \file What the tests of kernels on a GPU and on the emulator share.

namespace jitgemm::testing {

/// Small tiles of mma_multistage with every way to copy, store and pipeline.
inline constexpr std::array kVariants{
    "block=32x32x32,warp=16x16,stages=3,rasterization=grouped_m,group=3",
    "block=64x64x32,warp=32x32,stages=3",
    "block=64x64x32,warp=32x32,stages=2,shared=padding",
    "block=64x32x64,warp=32x16,stages=4,rasterization=zigzag,group=2",
    "block=32x128x32,warp=32x32,stages=5,mma=16x8x8,rasterization=column",
    "block=128x64x32,warp=64x32,stages=3,ldsm_a=2,ldsm_b=1,rasterization=grouped_n,group=3",
    "block=64x64x32,warp=32x32,stages=3,split_k=3,rasterization=row"};

/// Splits of K that add up in clusters, which only some architectures have: of two and of many blocks, with one vector
/// per thread and with several, in every order of tiles; deep and shallow pipelines.
inline constexpr std::array kClusterVariants{
    "block=64x64x32,warp=32x32,stages=3,split_k=2,reduction=cluster",
    "block=32x128x64,warp=32x32,stages=2,split_k=3,reduction=cluster,rasterization=row",
    "block=64x32x128,warp=32x16,stages=3,split_k=4,reduction=cluster,rasterization=zigzag,group=2",
    "block=16x64x64,warp=16x16,stages=12,split_k=8,reduction=cluster,rasterization=grouped_m,group=3"};

/// The combinations of a layout, a variant and a size that a test takes: all of them, or half of them, in which each
/// two of the three still meet.
enum class Share : std::uint8_t { all, half };
[[nodiscard]] constexpr bool is_taken(Share share, GemmLayout layout, std::size_t variant, std::size_t size) {
    return share == Share::all || (static_cast<std::size_t>(layout) + variant + size) % 2 == 0;
}

[[nodiscard]] GemmSpec f16(GemmSpec spec, DataType accumulator, DataType d = DataType::f16);

/// Builds the kernel on the context's device and CHECKs that verify() finds it right.
GemmKernel check_kernel(Context& context, const GemmSpec& spec, const KernelConfig& config,
                        const VerifyOptions& options = {});
/// The same for the heuristic's choice, and for the default config with some parameters set.
GemmKernel check_chosen(Context& context, const GemmSpec& spec, const VerifyOptions& options = {});
GemmKernel check_with(Context& context, const GemmSpec& spec, const std::string& parameters,
                      const VerifyOptions& options = {});

/// Normal inputs and the same problem again: the launch leaves the same bits.
void check_same_bits(Context& context, const GemmSpec& spec, const KernelConfig& config,
                     const std::function<void()>& between_launches = {});

/// Checks the problem, given a C of D's type, where operands must not be read, which verify() then fills with NaN: C
/// for a beta of 0, A and B for an alpha of 0. And with K = 0, which leaves nothing of A and B to read, with C and
/// without.
void check_unread_operands(GemmSpec spec, const std::function<void(const GemmSpec&, const VerifyOptions&)>& check);

}  // namespace jitgemm::testing
