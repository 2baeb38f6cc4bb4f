#pragma once

#include "runtime/emulator/barriers.hpp"
#include "runtime/emulator/shared_memory.hpp"
#include "runtime/emulator/warp.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace jitgemm::emulator {

/// One block: its warps, shared memory and barriers, run by one host thread.
class Block {
public:
    /// `number` counts blocks, x fastest. `tallies` has an entry for each instruction and is this host thread's own.
    Block(LaunchContext& launch, std::int64_t number, std::vector<Tally>& tallies);
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    /// Runs to the end. Throws EmulatorFault, EmulatorStopped.
    void run();

    [[nodiscard]] const LaunchContext& launch() const { return launch_; }
    [[nodiscard]] const std::array<std::int64_t, 3>& id() const { return id_; }
    [[nodiscard]] int threads() const { return threads_; }
    [[nodiscard]] SharedMemory& shared() { return shared_; }
    [[nodiscard]] Barriers& barriers() { return barriers_; }
    [[nodiscard]] const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }
    [[nodiscard]] std::vector<Tally>& tallies() { return tallies_; }
    [[nodiscard]] std::uint64_t lane_instructions() const;
    /// (x,y,z) of the thread with that index in the block.
    [[nodiscard]] std::array<std::int64_t, 3> thread_id(int thread) const;
    /// "block (1,0,0)"
    [[nodiscard]] std::string name() const;

private:
    void shuffle_order();
    bool run_round();
    void check_limits();
    [[noreturn]] void report_deadlock() const;

    LaunchContext& launch_;
    std::array<std::int64_t, 3> id_;
    int threads_;
    SharedMemory shared_;
    Barriers barriers_;
    std::vector<Tally>& tallies_;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::vector<std::size_t> order_;  ///< warps run in
    std::mt19937_64 random_;
};

}  // namespace jitgemm::emulator
