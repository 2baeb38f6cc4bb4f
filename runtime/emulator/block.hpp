#pragma once

#include "runtime/emulator/barriers.hpp"
#include "runtime/emulator/mbarriers.hpp"
#include "runtime/emulator/register_pool.hpp"
#include "runtime/emulator/shared_memory.hpp"
#include "runtime/emulator/warp.hpp"
#include "runtime/emulator/warpgroup_steps.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace jitgemm::emulator {

class Cluster;

/// One block: its warps, shared memory and barriers. The host thread of its cluster runs it.
class Block {
public:
    /// `rank` is the block's rank in its cluster. `tallies` has an entry for each instruction and belongs to this host
    /// thread.
    Block(Cluster& cluster, int rank, std::vector<Tally>& tallies);
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    /// Every warp that is ready has a turn. The result is whether there was one. Throws EmulatorFault.
    bool run_round();
    /// Called by a warp when it ends. Throws AccessFault.
    void warp_ended();

    [[nodiscard]] const LaunchContext& launch() const { return launch_; }
    [[nodiscard]] Cluster& cluster() const { return cluster_; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] const std::array<std::int64_t, 3>& id() const { return id_; }
    [[nodiscard]] int threads() const { return launch_.threads_per_block(); }
    [[nodiscard]] SharedMemory& shared() { return shared_; }
    [[nodiscard]] Barriers& barriers() { return barriers_; }
    [[nodiscard]] Mbarriers& mbarriers() { return mbarriers_; }
    [[nodiscard]] RegisterPool& registers() { return registers_; }
    [[nodiscard]] WarpgroupSteps& warpgroup_steps() { return warpgroup_steps_; }
    /// The warp tries again when others have given up registers.
    void wait_for_registers(Warp& warp) { without_registers_.push_back(&warp); }
    void registers_given_up();
    [[nodiscard]] const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }
    [[nodiscard]] bool has_ended() const { return alive_ == 0; }
    [[nodiscard]] int first_warp() const { return rank_ * launch_.agents_per_block(); }  ///< its number in the cluster
    [[nodiscard]] std::vector<Tally>& tallies() { return tallies_; }
    [[nodiscard]] std::uint64_t lane_instructions() const;
    /// (x,y,z) of a thread, from its index in the block.
    [[nodiscard]] std::array<std::int64_t, 3> thread_id(int thread) const;
    /// "block (1,0,0)"
    [[nodiscard]] std::string name() const;
    /// A line for each barrier at which a warp waits, and the warps that have ended; empty if there is neither.
    [[nodiscard]] std::string describe_waits() const;

private:
    [[nodiscard]] SharedOwner owner();
    void shuffle_order();

    Cluster& cluster_;
    LaunchContext& launch_;
    int rank_;
    std::array<std::int64_t, 3> id_;
    SharedMemory shared_;
    Barriers barriers_;
    Mbarriers mbarriers_;
    RegisterPool registers_;
    WarpgroupSteps warpgroup_steps_;
    std::vector<Warp*> without_registers_;
    std::vector<Tally>& tallies_;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::size_t alive_ = 0;
    std::vector<std::size_t> order_;  ///< order in which warps run
    std::mt19937_64 random_;
};

}  // namespace jitgemm::emulator
