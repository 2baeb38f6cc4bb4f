#pragma once

#include "runtime/emulator/checks.hpp"
#include "runtime/emulator/counters.hpp"
#include "runtime/emulator/fault.hpp"
#include "runtime/emulator/global_memory.hpp"
#include "runtime/emulator/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace jitgemm::emulator {

struct LaunchConfig {
    std::string entry;
    std::array<std::int64_t, 3> grid{1, 1, 1};
    std::array<std::int64_t, 3> block{1, 1, 1};
    int shared_bytes = 0;                 ///< dynamic
    std::array<int, 3> cluster{1, 1, 1};  ///< blocks; 1x1x1: the entry's required cluster, if it has one
    std::uint64_t order_seed = 0;         ///< 0: blocks and warps in order; else shuffled
    bool blocks_in_order = false;         ///< they begin by their index even then
    bool programmatic = false;            ///< the launch may begin before the previous kernel has ended
    AsyncMode async_mode = AsyncMode::eager;
    Checks checks{};
    int compute_capability = 0;  ///< of the GPU, 80, 90; 0: the module's .target
    int threads = 0;             ///< of the host; 0: one per core
    std::uint64_t work_limit =
        0;  ///< lane-instructions; 0: no limit. More is a fault, found early if the first block allows an estimate
};

/// Called now and then, from several threads. True ends the launch with EmulatorStopped. Empty: never.
using StopRequest = std::function<bool()>;

/// Runs a kernel to its end. `parameters` are the bytes of the entry's parameter space. Throws Error for a launch that
/// does not fit the entry, EmulatorFault for the findings of the checks, and EmulatorStopped.
[[nodiscard]] Counters launch(const Program& program, const LaunchConfig& config, GlobalMemory& memory,
                              std::span<const std::byte> parameters, const StopRequest& stop = {});

}  // namespace jitgemm::emulator
