#pragma once

#include <cstdint>

namespace jitgemm::emulator {

/// Strong accesses (volatile, relaxed, acquire, release) may meet each other and atomics without a barrier. Their
/// ordering effect on other accesses is not modelled.
enum class Access : std::uint8_t { read, write, atomic, strong_read, strong_write };
[[nodiscard]] constexpr bool is_strong(Access access) { return access > Access::write; }
[[nodiscard]] constexpr bool reads(Access access) { return access != Access::write && access != Access::strong_write; }
[[nodiscard]] constexpr bool writes(Access access) { return access != Access::read && access != Access::strong_read; }

/// An accessor of shared memory. `site` is the index of the instruction, for the report of a race.
struct Accessor {
    int warp = 0;  ///< its number in the cluster
    std::uint32_t site = 0;
};

}  // namespace jitgemm::emulator
