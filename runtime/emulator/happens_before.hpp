#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitgemm::emulator {

inline constexpr int kMaxWarps = 32;  ///< of a block: 1024 threads

/// The order that barriers give to accesses of a cluster's warps. They are vector clocks over one common time: an
/// access has its time, and a warp knows the time up to which it has synchronised with each other warp. Warps are
/// numbered through the cluster, those of one block side by side. After them comes the block's asynchronous agent,
/// which owns the writes of bulk copies. A warp also knows the time up to which the writes of each other warp are
/// visible to the asynchronous proxy, because a proxy fence came after them (PTX ISA, "Proxies" of the memory
/// consistency model).
class HappensBefore {
public:
    /// For each warp, the time up to which its actions are known; then for each, the time up to which they are visible
    /// to the asynchronous proxy.
    using Clock = std::vector<std::uint32_t>;

    /// `warps` includes the agents.
    explicit HappensBefore(int warps)
        : warps_(static_cast<std::size_t>(warps)), known_(2 * warps_ * warps_), joined_(2 * warps_) {}

    [[nodiscard]] std::uint32_t now() const { return now_; }

    /// Whether an action of `other` at `time` comes before the present action of `warp`.
    [[nodiscard]] bool ordered(int warp, int other, std::uint32_t time) const {
        return warp == other || time < row(index(warp))[index(other)];
    }
    /// Whether a write of `other` at `time` is visible to an asynchronous copy that `warp` issues now.
    [[nodiscard]] bool visible_to_copies(int warp, int other, std::uint32_t time) const {
        return time < row(index(warp))[warps_ + index(other)];
    }

    /// Time passes: a bar.arrive separates later actions from earlier ones.
    std::uint32_t tick() { return ++now_; }

    /// A barrier is complete in the block whose warps begin at number `first`. `arrived[w]` is the time at which its
    /// warp w arrived without waiting (bar.arrive), or 0. The warps of `waiting` learn everything that all of them
    /// knew.
    void join(int first, std::uint32_t waiting, const std::array<std::uint32_t, kMaxWarps>& arrived);

    /// A release: `clock` learns the warp's actions and knowledge up to now.
    void give(int warp, Clock& clock);
    /// An acquire: the warp learns everything that `clock` knows.
    void take(int warp, const Clock& clock);
    /// `clock` learns everything that `earlier` knows.
    static void add(const Clock& earlier, Clock& clock);

    /// fence.proxy.async: the warp's actions and knowledge become visible to asynchronous copies.
    void fence_proxy(int warp);
    /// `clock` learns an agent's actions up to now.
    void give_agent(int agent, Clock& clock);

private:
    [[nodiscard]] static std::size_t index(int warp) { return static_cast<std::size_t>(warp); }
    [[nodiscard]] std::uint32_t* row(std::size_t warp) { return known_.data() + 2 * warp * warps_; }
    [[nodiscard]] const std::uint32_t* row(std::size_t warp) const { return known_.data() + 2 * warp * warps_; }

    std::uint32_t now_ = 1;
    std::size_t warps_;
    Clock known_;   ///< [knowing warp][known warp]
    Clock joined_;  ///< scratch memory of join()
};

}  // namespace jitgemm::emulator
