#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitgemm::emulator {

inline constexpr int kMaxWarps = 32;  ///< of a block: 1024 threads

/// Which accesses of a cluster's warps are ordered by barriers, as vector clocks over one time for all of them: an
/// access carries the time it was made at, and a warp knows up to which time it has synchronised with each other. Warps
/// are numbered through the cluster, those of one block side by side; behind them comes the block's asynchronous agent,
/// to which what bulk copies write belongs.
///
/// Beside that a warp knows of each other up to which time its writes are visible to the asynchronous proxy: those that
/// came before a proxy fence somewhere on the way (PTX ISA, "Proxies" of the memory consistency model).
class HappensBefore {
public:
    /// Of each warp, up to when what it did is known; then of each up to when it is visible to the asynchronous proxy.
    using Clock = std::vector<std::uint32_t>;

    /// `warps` counts the agents, too.
    explicit HappensBefore(int warps)
        : warps_(static_cast<std::size_t>(warps)), known_(2 * warps_ * warps_), joined_(2 * warps_) {}

    [[nodiscard]] std::uint32_t now() const { return now_; }

    /// Whether what `other` did at `time` comes before what `warp` does now.
    [[nodiscard]] bool ordered(int warp, int other, std::uint32_t time) const {
        return warp == other || time < row(index(warp))[index(other)];
    }
    /// Whether what `other` wrote at `time` is visible to an asynchronous copy that `warp` issues now.
    [[nodiscard]] bool visible_to_copies(int warp, int other, std::uint32_t time) const {
        return time < row(index(warp))[warps_ + index(other)];
    }

    /// Time passes, so that what comes after is told from what came before: a bar.arrive.
    std::uint32_t tick() { return ++now_; }

    /// A barrier of the block whose warps begin at number `first` is complete. `arrived[w]` is the time its warp w
    /// arrived without waiting (bar.arrive), or 0; the warps of `waiting` learn everything all of them knew.
    void join(int first, std::uint32_t waiting, const std::array<std::uint32_t, kMaxWarps>& arrived);

    /// A release: `clock` learns what the warp did and knows up to now.
    void give(int warp, Clock& clock);
    /// An acquire: the warp learns what `clock` knows.
    void take(int warp, const Clock& clock);
    /// What `earlier` knows, `clock` knows as well.
    static void add(const Clock& earlier, Clock& clock);

    /// fence.proxy.async: what the warp did and knows becomes visible to asynchronous copies.
    void fence_proxy(int warp);
    /// `clock` learns what an agent did up to now.
    void give_agent(int agent, Clock& clock);

private:
    [[nodiscard]] static std::size_t index(int warp) { return static_cast<std::size_t>(warp); }
    [[nodiscard]] std::uint32_t* row(std::size_t warp) { return known_.data() + 2 * warp * warps_; }
    [[nodiscard]] const std::uint32_t* row(std::size_t warp) const { return known_.data() + 2 * warp * warps_; }

    std::uint32_t now_ = 1;
    std::size_t warps_;
    Clock known_;   ///< [who][of whom]
    Clock joined_;  ///< what join() works with
};

}  // namespace jitgemm::emulator
