#pragma once

#include <cstdint>

/// \file Choices that configs of several families have.

namespace jitgemm {

/// The place of a tile in shared memory: 16-byte chunks permuted by XOR with the row, or rows padded by one chunk.
enum class SharedLayout : std::uint8_t { swizzle, padding };

/// The place where blocks that share the K of a tile add their sums up: the workspace, with a second entry, or (sm_90
/// and later) the shared memory of a thread-block cluster.
enum class Reduction : std::uint8_t { workspace, cluster };

/// Operands that are copied into the workspace first, with rows padded to 16 bytes. Their alignment is too small for
/// 16-byte cp.async or TMA, or tensor cores can't read them as they lie. Each operand is a bit.
enum class Pack : std::uint8_t { none, a, b, ab };
[[nodiscard]] constexpr Pack pack_of(bool a, bool b) {
    return a && b ? Pack::ab : a ? Pack::a : b ? Pack::b : Pack::none;
}
/// The same of the transposed product, whose operands have changed places.
[[nodiscard]] constexpr Pack turned(Pack pack) { return pack == Pack::a ? Pack::b : pack == Pack::b ? Pack::a : pack; }
[[nodiscard]] constexpr bool packs_a(Pack pack) { return pack == Pack::a || pack == Pack::ab; }
[[nodiscard]] constexpr bool packs_b(Pack pack) { return pack == Pack::b || pack == Pack::ab; }

}  // namespace jitgemm
