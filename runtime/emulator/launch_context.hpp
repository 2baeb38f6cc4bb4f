#pragma once

#include "runtime/emulator/launch.hpp"
#include "runtime/emulator/tensor_core.hpp"

#include <atomic>
#include <vector>

namespace jitgemm::emulator {

/// What all blocks of a launch share and none changes, but for `cancelled`.
struct LaunchContext {
    const Program& program;
    const LaunchConfig& config;
    const Function& entry;
    MemoryMap memory;
    std::vector<std::uint64_t> constant_doublewords;  ///< the program's, with addresses filled in
    std::vector<std::byte> parameters;
    TensorCoreModel tensor_core_model;
    const StopRequest& stop;
    std::atomic<bool> cancelled{false};  ///< another block failed, or the caller asked to stop
};

}  // namespace jitgemm::emulator
