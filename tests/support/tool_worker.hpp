#pragma once

#include "runtime/tuning/workers/worker_command.hpp"

#include <string>

namespace jitgemm::testing {

/// The built tool as a sweep's worker, with the settings of the environment but a cache folder of its own.
[[nodiscard]] inline tuning::WorkerCommand tool_worker(const std::string& cache) {
    tuning::WorkerCommand command;
    command.program = {JITGEMM_TOOL};
    command.options = Options::from_environment();
    command.options.cache_directory = cache;
    return command;
}

/// The same on a device: "emulator:sm_80", "cuda:0".
[[nodiscard]] inline tuning::WorkerCommand tool_worker(const std::string& cache, const std::string& device) {
    tuning::WorkerCommand command = tool_worker(cache);
    command.options.device = device;
    return command;
}

}  // namespace jitgemm::testing
