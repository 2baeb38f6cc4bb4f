#pragma once

#include "runtime/emulator/happens_before.hpp"
#include "runtime/emulator/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::emulator {

class Cluster;
class Warp;

/// The one barrier of a cluster, as barrier.cluster uses it (PTX ISA 9.0, "barrier.cluster"): a warp arrives, goes on,
/// and waits for the arrival of every warp that has not ended. A warp counts as its 32 threads.
///
/// Arrivals with .release hand over what the warp did and knew then; those with .relaxed only count. Every wait
/// acquires.
class ClusterBarrier {
public:
    explicit ClusterBarrier(Cluster& cluster) : cluster_(cluster) {}

    /// Both throw AccessFault for part of a warp, and where arrivals and waits of a warp do not alternate.
    void arrive(Warp& warp, const Instruction& instruction, Mask mask, bool releases);
    /// Returns at once; the warp waits from now on unless all have arrived.
    void wait(Warp& warp, const Instruction& instruction, Mask mask);
    /// A warp has ended: all others may have arrived.
    void warp_ended();
    // fence.mbarrier_init makes an mbarrier known to whoever waits for a completion that a later arrival of the warp,
    // be it relaxed, is part of: the first such completion counts from 1.
    [[nodiscard]] std::uint64_t next_completion(const Warp& warp);
    [[nodiscard]] bool has_waited_for(const Warp& warp, std::uint64_t completion);
    /// Who waits and who has arrived; empty where nobody has.
    [[nodiscard]] std::string describe() const;

private:
    enum class Stage : std::uint8_t {
        away,     ///< to arrive
        arrived,  ///< others have not
        passed,   ///< all have; to wait, which takes no time
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
    std::vector<Member> members_;  ///< every warp of every block; none before the barrier is first used
    std::uint64_t completions_ = 0;
    HappensBefore::Clock gathering_;    ///< what arrivals hand over
    HappensBefore::Clock handed_over_;  ///< of the last completion
};

}  // namespace jitgemm::emulator
