#pragma once

#include "runtime/emulator/happens_before.hpp"
#include "runtime/emulator/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::emulator {

class Cluster;
class Warp;

/// The one barrier of a cluster, for barrier.cluster (PTX ISA 9.0, "barrier.cluster"). A warp arrives, goes on, and
/// waits for the arrival of every warp that has not ended. A warp counts as its 32 threads. An arrival with .release
/// hands over the warp's history; one with .relaxed only counts. Every wait acquires.
class ClusterBarrier {
public:
    explicit ClusterBarrier(Cluster& cluster) : cluster_(cluster) {}

    /// Both throw AccessFault if only a part of a warp executes them, or if a warp's arrivals and waits do not
    /// alternate.
    void arrive(Warp& warp, const Instruction& instruction, Mask mask, bool releases);
    /// Returns at once. The warp waits from now on unless all have arrived.
    void wait(Warp& warp, const Instruction& instruction, Mask mask);
    /// A warp has ended. All others may have arrived.
    void warp_ended();
    // fence.mbarrier_init makes an mbarrier known to every warp that waits for a completion with a later arrival of
    // this warp, even a relaxed one. The number of the first such completion; it counts from 1.
    [[nodiscard]] std::uint64_t next_completion(const Warp& warp);
    [[nodiscard]] bool has_waited_for(const Warp& warp, std::uint64_t completion);
    /// The waiting warps and the arrived ones; empty if there are none.
    [[nodiscard]] std::string describe() const;

private:
    enum class Stage : std::uint8_t {
        away,     ///< will arrive next
        arrived,  ///< has arrived, and others have not
        passed,   ///< all have arrived; its wait, which takes no time, comes next
    };
    struct Member {
        Warp* warp = nullptr;
        Stage stage = Stage::away;
        bool waits = false;
        std::uint64_t seen = 0;                    ///< completions at its last wait
        const Instruction* instruction = nullptr;  ///< its last
    };
    Member& member_of(const Warp& warp);
    void require_whole_warp(const Warp& warp, Mask mask) const;
    void pass(Member& member);
    void complete_if_all_arrived();

    Cluster& cluster_;
    std::vector<Member> members_;  ///< every warp of every block; empty before the barrier is first used
    std::uint64_t completions_ = 0;
    HappensBefore::Clock gathering_;    ///< the history that arrivals hand over
    HappensBefore::Clock handed_over_;  ///< the history of the last completion
};

}  // namespace jitgemm::emulator
