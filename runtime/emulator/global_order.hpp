#pragma once

#include "runtime/emulator/global_memory.hpp"
#include "runtime/emulator/happens_before.hpp"

#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

/// For each warp of the launch, the time up to which its actions are known. The time is that of the warp's cluster.
using LaunchClock = std::unordered_map<std::uint32_t, std::uint32_t>;

/// The ordering effect of a strong access.
struct MemoryOrder {
    bool acquires = false;
    bool releases = false;
    bool wide = true;  ///< its scope includes other clusters: .gpu, .sys
};

/// The last strong write to a word of global memory.
struct StrongWord {
    LaunchClock released;      ///< the knowledge of its writer; empty: it releases nothing
    std::uint32_t writer = 0;  ///< its number in the launch
    std::uint32_t time = 0;
    std::uint64_t before = 0;        ///< the value that the write replaced
    std::set<std::uint32_t> told{};  ///< clusters that have read `before`, by their first warps
};

/// The words of global memory that warps of a launch write with strong accesses.
class StrongWords {
public:
    /// Held during a strong access, because a value and its clock belong together.
    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    [[nodiscard]] StrongWord& at(DeviceAddress address) { return words_[address]; }
    /// Null if there is no strong write.
    [[nodiscard]] StrongWord* find(DeviceAddress address);

private:
    std::mutex mutex_;
    std::unordered_map<DeviceAddress, StrongWord> words_;
};

/// The order of accesses to global memory. A cluster's barriers order its own accesses. Release and acquire order those
/// of different clusters (PTX ISA, "Memory Consistency Model"). A fence turns relaxed writes after it into releases,
/// and relaxed reads before it into acquires.
class GlobalOrder {
public:
    GlobalOrder(HappensBefore& order, StrongWords& words, std::uint32_t first, std::uint32_t agents)
        : order_(order), words_(words), first_(first), agents_(agents) {}

    // Warps are numbered through the cluster.
    [[nodiscard]] std::uint32_t number_in_launch(int warp) const { return first_ + static_cast<std::uint32_t>(warp); }
    /// Whether a write comes before the warp's present action.
    [[nodiscard]] bool ordered(int warp, std::uint32_t writer, std::uint32_t time) const;

    // Strong accesses, while the words are locked.
    /// A load. If it may come before another cluster's write, it does so once, and returns the value before that write.
    /// This finds a kernel that does not poll again.
    [[nodiscard]] const std::uint64_t* load(int warp, DeviceAddress address, const MemoryOrder& how);
    /// `before` is the value that is replaced.
    void store(int warp, DeviceAddress address, const MemoryOrder& how, std::uint64_t before);
    /// A read-modify-write. Earlier releases stay (a release sequence).
    void update(int warp, DeviceAddress address, const MemoryOrder& how, std::uint64_t before);
    void acquire(int warp, DeviceAddress address, const MemoryOrder& how);
    /// A fence whose scope includes other clusters.
    void fence(int warp);

    [[nodiscard]] StrongWords& words() { return words_; }

private:
    struct Acquired {
        int warp = 0;
        std::uint32_t time = 0;
        LaunchClock clock;
    };
    struct Fence {
        std::uint32_t time = 0;  ///< 0: none
        LaunchClock clock;       ///< the knowledge at that time
        LaunchClock read;        ///< learned by relaxed reads since
    };
    [[nodiscard]] bool is_own(std::uint32_t warp) const { return warp - first_ < agents_; }
    [[nodiscard]] bool knows(int warp, int other, std::uint32_t time) const {
        return warp == other || order_.ordered(warp, other, time);
    }
    [[nodiscard]] LaunchClock known_to(int warp);
    [[nodiscard]] LaunchClock released_by(int warp, const MemoryOrder& how);
    void take(int warp, const LaunchClock& clock);
    void note_writer(int warp, StrongWord& word, std::uint64_t before);

    HappensBefore& order_;
    StrongWords& words_;
    std::uint32_t first_;   ///< number in the launch of the cluster's first warp
    std::uint32_t agents_;  ///< of the cluster
    std::vector<Acquired> acquired_;
    std::unordered_map<int, Fence> fences_;  ///< the last fence of a warp
};

}  // namespace jitgemm::emulator
