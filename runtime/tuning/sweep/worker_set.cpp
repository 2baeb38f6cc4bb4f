#include "runtime/tuning/sweep/worker_set.hpp"

#include "runtime/tuning/workers/measuring_process.hpp"

#include <future>

namespace jitgemm::tuning {

WorkerSet::WorkerSet(const WorkerSetOptions& options) {
    WorkerCommand command;
    command.program = options.program;
    command.options = options.options;
    command.options.cache_directory = scratch_.path();
    std::vector<std::future<std::unique_ptr<MeasureService>>> starting;  // opening a CUDA context takes a while
    for (const std::string& device : options.devices) {
        command.options.device = device;
        starting.push_back(
            std::async(std::launch::async, [command, patience = options.watchdog]() -> std::unique_ptr<MeasureService> {
                return std::make_unique<MeasuringProcess>(MeasuringOptions{command, patience});
            }));
    }
    for (auto& device : starting) devices_.push_back(device.get());
    command.newest_cuda_major = facts().versions.driver / 10;
    pool_ = {.command = command, .workers = options.workers, .timeout = options.compile_timeout};
}

CompileService& WorkerSet::compiling() {
    if (!compiling_) compiling_ = std::make_unique<CompilePool>(pool_);
    return *compiling_;
}

}  // namespace jitgemm::tuning
