#include "runtime/tuning/workshop.hpp"

#include "runtime/tuning/measuring_process.hpp"

namespace jitgemm::tuning {

Workshop::Workshop(const WorkshopOptions& options) {
    WorkerCommand command;
    command.program = options.program;
    command.options = options.options;
    command.options.cache_directory = scratch_.path();
    for (const std::string& device : options.devices) {
        command.options.device = device;
        devices_.push_back(
            std::make_unique<MeasuringProcess>(MeasuringOptions{.command = command, .patience = options.watchdog}));
    }
    command.newest_cuda_major = facts().versions.driver / 10;
    pool_ = {.command = command, .workers = options.workers, .timeout = options.compile_timeout};
}

Compiling& Workshop::compiling() {
    if (!compiling_) compiling_ = std::make_unique<CompilePool>(pool_);
    return *compiling_;
}

}  // namespace jitgemm::tuning
