#pragma once

#include <array>
#include <cstdint>

namespace jitgemm::emulator {

inline constexpr int kMaxWarps = 32;  ///< of a block: 1024 threads

/// Which accesses of the block's warps are ordered by barriers, as vector clocks over one block-wide time: an access
/// carries the time it was made at, and a warp knows up to which time it has synchronised with each other.
class HappensBefore {
public:
    [[nodiscard]] std::uint32_t now() const { return now_; }

    /// Whether what `other` did at `time` comes before what `warp` does now.
    [[nodiscard]] bool ordered(int warp, int other, std::uint32_t time) const {
        return warp == other || time < known_[index(warp)][index(other)];
    }

    /// Time passes, so that what comes after is told from what came before: a bar.arrive.
    std::uint32_t tick() { return ++now_; }

    /// A barrier is complete. `arrived[w]` is the time warp w arrived without waiting (bar.arrive), or 0; the warps of
    /// `waiting` learn everything all of them knew.
    void join(std::uint32_t waiting, const std::array<std::uint32_t, kMaxWarps>& arrived);

private:
    using Times = std::array<std::uint32_t, kMaxWarps>;
    [[nodiscard]] static std::size_t index(int warp) { return static_cast<std::size_t>(warp); }

    std::uint32_t now_ = 1;
    std::array<Times, kMaxWarps> known_{};  ///< [who][of whom]
};

}  // namespace jitgemm::emulator
