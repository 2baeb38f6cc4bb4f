#pragma once

#include "runtime/emulator/global_memory.hpp"
#include "runtime/emulator/happens_before.hpp"

#include <cstdint>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace jitgemm::emulator {

/// Of warps, by their numbers in the launch, up to when what they did is known. The time is that of their cluster.
using LaunchClock = std::unordered_map<std::uint32_t, std::uint32_t>;

/// What a strong access orders beside itself.
struct MemoryOrder {
    bool acquires = false;
    bool releases = false;
    bool wide = true;  ///< its scope holds other clusters: .gpu, .sys
};

/// The last strong write to a word of global memory.
struct StrongWord {
    LaunchClock released;      ///< what its writer knew; empty: it releases nothing
    std::uint32_t writer = 0;  ///< its number in the launch
    std::uint32_t time = 0;
    std::uint64_t before = 0;        ///< the value that the write replaced
    std::set<std::uint32_t> told{};  ///< clusters that have read `before`, by their first warps
};

/// The words of global memory that warps of a launch write with strong accesses.
class StrongWords {
public:
    /// Held during a strong access: a value and its clock belong together.
    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    [[nodiscard]] StrongWord& at(DeviceAddress address) { return words_[address]; }
    /// Null where there is no strong write.
    [[nodiscard]] StrongWord* find(DeviceAddress address);

private:
    std::mutex mutex_;
    std::unordered_map<DeviceAddress, StrongWord> words_;
};

/// Which accesses to global memory are ordered: those of a cluster by its barriers, those of different clusters by what
/// one has released and another acquired (PTX ISA, "Memory Consistency Model"). A fence makes releases of the relaxed
/// writes behind it and acquires of the relaxed reads before it.
class GlobalOrder {
public:
    GlobalOrder(HappensBefore& order, StrongWords& words, std::uint32_t first, std::uint32_t agents)
        : order_(order), words_(words), first_(first), agents_(agents) {}

    // Warps are numbered through the cluster.
    [[nodiscard]] std::uint32_t number_in_launch(int warp) const { return first_ + static_cast<std::uint32_t>(warp); }
    /// Whether a write comes before what the warp does now.
    [[nodiscard]] bool ordered(int warp, std::uint32_t writer, std::uint32_t time) const;

    // Strong accesses, while the words are locked.
    /// A load. Where it may come before another cluster's write it does so once, and the result is what was there
    /// before: a kernel that does not ask again is found.
    [[nodiscard]] const std::uint64_t* load(int warp, DeviceAddress address, const MemoryOrder& how);
    /// `before`: the value that is replaced.
    void store(int warp, DeviceAddress address, const MemoryOrder& how, std::uint64_t before);
    /// A read-modify-write. What was released before stays (a release sequence).
    void update(int warp, DeviceAddress address, const MemoryOrder& how, std::uint64_t before);
    void acquire(int warp, DeviceAddress address, const MemoryOrder& how);
    /// A fence whose scope holds other clusters.
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
        LaunchClock clock;       ///< what was known then
        LaunchClock read;        ///< by relaxed reads since
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
    std::unordered_map<int, Fence> fences_;  ///< the last one of a warp
};

}  // namespace jitgemm::emulator
