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
    std::array<int, 3> cluster{1, 1, 1};  ///< blocks; 1x1x1: what the entry requires, if it does
    std::uint64_t order_seed = 0;         ///< 0: blocks and warps in order; else shuffled
    bool blocks_in_order = false;         ///< even then: they begin by their index
    bool programmatic = false;            ///< it may begin before the launch before it has ended
    AsyncMode async_mode = AsyncMode::eager;
    Checks checks{};
    int compute_capability = 0;    ///< of the GPU, 80, 90; 0: that of the module's .target
    int threads = 0;               ///< of the host; 0: one per core
    std::uint64_t work_limit = 0;  ///< lane-instructions; 0: none. Exceeding it is a fault, before the launch where the
                                   ///< first block lets it be estimated
};

/// Asked now and then, from several threads; true ends the launch with EmulatorStopped. Empty: never.
using StopRequest = std::function<bool()>;

/// Runs a kernel to its end. `parameters` are the bytes of the entry's parameter space. Throws Error for a launch that
/// does not fit the entry, EmulatorFault for what the checks find, EmulatorStopped.
[[nodiscard]] Counters launch(const Program& program, const LaunchConfig& config, GlobalMemory& memory,
                              std::span<const std::byte> parameters, const StopRequest& stop = {});

}  // namespace jitgemm::emulator
