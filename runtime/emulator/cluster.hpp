#pragma once

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/cluster_barrier.hpp"
#include "runtime/emulator/global_order.hpp"
#include "runtime/emulator/happens_before.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace jitgemm::emulator {

/// The blocks of one cluster. One host thread runs them in turns. In a launch without clusters every block is its own
/// cluster.
class Cluster {
public:
    /// `number` counts clusters, x fastest. `tallies` has an entry for each instruction and belongs to this host
    /// thread.
    Cluster(LaunchContext& launch, std::int64_t number, std::vector<Tally>& tallies);
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// Runs the cluster to its end. Throws EmulatorFault, EmulatorStopped.
    void run();

    [[nodiscard]] LaunchContext& launch() const { return launch_; }
    [[nodiscard]] const std::array<std::int64_t, 3>& id() const { return id_; }
    [[nodiscard]] HappensBefore& order() { return order_; }
    [[nodiscard]] GlobalOrder& global_order() { return global_order_; }
    [[nodiscard]] ClusterBarrier& barrier() { return barrier_; }
    /// The blocks by rank: x fastest.
    [[nodiscard]] const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }
    [[nodiscard]] bool is_one_block() const { return launch_.cluster.blocks() == 1; }
    /// The warp with this number in the cluster.
    [[nodiscard]] const Warp& warp(int number) const;
    [[nodiscard]] std::uint64_t lane_instructions() const;
    /// "warp 3", or "warp 3 of block (1,0,0)" if there are several blocks.
    [[nodiscard]] std::string name_of_warp(int number) const;
    /// "warp 3 of block (1,0,0)", from its number in the launch.
    [[nodiscard]] std::string name_in_launch(std::uint32_t number) const;

private:
    [[nodiscard]] std::string name() const;
    [[nodiscard]] std::uint32_t agents() const {
        return static_cast<std::uint32_t>(launch_.agents_per_block() * launch_.cluster.blocks());
    }
    bool run_round();
    bool finish_copies();
    void check_limits();
    [[noreturn]] void report_deadlock() const;

    LaunchContext& launch_;
    std::array<std::int64_t, 3> id_;
    HappensBefore order_;
    GlobalOrder global_order_;
    ClusterBarrier barrier_;
    std::vector<std::unique_ptr<Block>> blocks_;
    std::vector<std::size_t> turns_;  ///< order in which blocks run
    std::mt19937_64 random_;
};

}  // namespace jitgemm::emulator
