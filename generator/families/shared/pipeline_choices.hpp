#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// \file What configs of several families choose between.

namespace jitgemm {

/// How a tile lies in shared memory: 16-byte chunks permuted by XOR with the row, or rows padded by one chunk.
enum class SharedLayout : std::uint8_t { swizzle, padding };

/// Where the epilogue's stores come from: rearranged through shared memory into rows, or straight from the fragments.
enum class EpilogueStore : std::uint8_t { shared, registers };
inline constexpr std::array<std::string_view, 2> kEpilogueStoreNames{"smem", "reg"};

/// Where the sums of blocks that share the K of a tile meet: in the workspace, added up by a second entry; or, sm_90
/// and later, in the shared memory of a thread-block cluster.
enum class Reduction : std::uint8_t { workspace, cluster };

/// Operands copied into the workspace first, their rows padded to 16 bytes, because they are too little aligned for
/// 16-byte cp.async: a bit each.
enum class Pack : std::uint8_t { none, a, b, ab };
[[nodiscard]] constexpr Pack pack_of(bool a, bool b) {
    return a && b ? Pack::ab : a ? Pack::a : b ? Pack::b : Pack::none;
}
[[nodiscard]] constexpr bool packs_a(Pack pack) { return pack == Pack::a || pack == Pack::ab; }
[[nodiscard]] constexpr bool packs_b(Pack pack) { return pack == Pack::b || pack == Pack::ab; }

}  // namespace jitgemm
