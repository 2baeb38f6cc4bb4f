#pragma once

#include "runtime/emulator/happens_before.hpp"
#include "runtime/emulator/program.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::emulator {

class Block;
class Warp;

/// The block's 16 barriers, for bar.sync, bar.arrive and bar.red. A warp counts as its 32 threads. A barrier without a
/// count is for all warps that have not ended.
class Barriers {
public:
    static constexpr int kBarriers = 16;
    static constexpr int kEveryone = 0;  ///< stands for a count

    explicit Barriers(Block& block) : block_(block) {}

    struct Arrival {
        Warp* warp = nullptr;
        const Instruction* instruction = nullptr;
        Mask mask = 0;
        Mask predicate = 0;  ///< of bar.red, lanes of `mask` only
        bool waits = true;
    };
    /// A warp arrives. It waits from now on unless that completes the barrier. Throws AccessFault.
    void arrive(int barrier, int threads, const Arrival& arrival);
    /// A warp has ended. Barriers for everyone may be complete now.
    void warp_ended();
    /// A line for each barrier at which a warp waits: the waiting warps, their places, and the number of missing
    /// threads.
    [[nodiscard]] std::string describe() const;

private:
    struct State {
        int threads = -1;  ///< expected; kEveryone; -1: no warp is here
        std::vector<Arrival> arrivals;
        std::array<std::uint32_t, kMaxWarps> arrived{};  ///< arrival times of the warps that do not wait
    };
    [[nodiscard]] bool complete(const State& state) const;
    void check(int barrier, int threads, const Arrival& arrival) const;
    void release(State& state);
    [[nodiscard]] std::string describe(int barrier, const State& state) const;

    Block& block_;
    std::array<State, kBarriers> states_;
};

/// Writes the result of a bar.red to the lanes that wait for it. (It is in executor_barrier.cpp.)
void deliver_reduction(Warp& warp, const Instruction& instruction, Mask mask, std::uint32_t count_true,
                       std::uint32_t count_all);

}  // namespace jitgemm::emulator
