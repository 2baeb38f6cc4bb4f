#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitgemm::emulator {

inline constexpr int kMaxWarps = 32;  ///< of a block: 1024 threads

/// Which accesses of a cluster's warps are ordered by barriers, as vector clocks over one time for all of them: an access
/// carries the time it was made at, and a warp knows up to which time it has synchronised with each other. Warps are
/// numbered through the cluster, those of one block side by side.
class HappensBefore {
public:
    using Clock = std::vector<std::uint32_t>;  ///< of each warp, up to when what it did is known

    explicit HappensBefore(int warps)
        : warps_(static_cast<std::size_t>(warps)), known_(warps_ * warps_), joined_(warps_) {}

    [[nodiscard]] std::uint32_t now() const { return now_; }

    /// Whether what `other` did at `time` comes before what `warp` does now.
    [[nodiscard]] bool ordered(int warp, int other, std::uint32_t time) const {
        return warp == other || time < known_[index(warp) * warps_ + index(other)];
    }

    /// Time passes, so that what comes after is told from what came before: a bar.arrive.
    std::uint32_t tick() { return ++now_; }

    /// A barrier of the block whose warps begin at number `first` is complete. `arrived[w]` is the time its warp w arrived
    /// without waiting (bar.arrive), or 0; the warps of `waiting` learn everything all of them knew.
    void join(int first, std::uint32_t waiting, const std::array<std::uint32_t, kMaxWarps>& arrived);

    /// A release: `clock` learns what the warp did and knows up to now.
    void give(int warp, Clock& clock);
    /// An acquire: the warp learns what `clock` knows.
    void take(int warp, const Clock& clock);

private:
    [[nodiscard]] static std::size_t index(int warp) { return static_cast<std::size_t>(warp); }
    [[nodiscard]] std::uint32_t* row(std::size_t warp) { return known_.data() + warp * warps_; }

    std::uint32_t now_ = 1;
    std::size_t warps_;
    Clock known_;   ///< [who][of whom]
    Clock joined_;  ///< what join() works with
};

}  // namespace jitgemm::emulator
