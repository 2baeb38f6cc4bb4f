#pragma once

#include "jitgemm/options.hpp"
#include "runtime/support/temporary_directory.hpp"
#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/sweep/compile_pool.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm::tuning {

struct WorkerSetOptions {
    std::vector<std::string> program;  ///< program of the worker processes, and the words before `worker`
    Options options;                   ///< the settings that find NVRTC and templates
    std::vector<std::string> devices;  ///< in the form of Options::device, at least one
    int workers = 0;                   ///< compiling ones; 0: one per core
    std::chrono::seconds compile_timeout{60};
    std::chrono::seconds watchdog{30};  ///< MeasuringOptions::patience
};

/// The processes that compile and measure for a sweep, and the folder through which they pass kernels.
class WorkerSet {
public:
    /// Starts one measuring process per device. Throws Error with its message if one cannot work.
    explicit WorkerSet(const WorkerSetOptions& options);

    /// It is started on the first request, and throws as CompilePool does. Not thread-safe.
    [[nodiscard]] CompileService& compiling();
    [[nodiscard]] std::vector<std::unique_ptr<MeasureService>>& devices() { return devices_; }
    [[nodiscard]] const DeviceFacts& facts() const { return devices_.front()->facts(); }  ///< of the first device

private:
    TemporaryDirectory scratch_{"jitgemm-tune"};  // outlives the processes that write there
    std::vector<std::unique_ptr<MeasureService>> devices_;
    CompilePoolOptions pool_;
    std::unique_ptr<CompilePool> compiling_;
};

}  // namespace jitgemm::tuning
