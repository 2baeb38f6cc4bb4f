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
    std::vector<std::string> program;  ///< of the worker processes, and the words before `worker`
    Options options;                   ///< whatever of it finds NVRTC and templates
    std::vector<std::string> devices;  ///< as Options::device takes them, at least one
    int workers = 0;                   ///< that compile; 0: one per core
    std::chrono::seconds compile_timeout{60};
    std::chrono::seconds watchdog{30};  ///< MeasuringOptions::patience
};

/// The processes that compile and measure for a sweep, and the folder through which they pass kernels.
class WorkerSet {
public:
    /// Starts one measuring process per device. Throws Error with its words when one cannot work.
    explicit WorkerSet(const WorkerSetOptions& options);

    /// Started when first asked for; throws as CompilePool does. Not for several threads at once.
    [[nodiscard]] CompileService& compiling();
    [[nodiscard]] std::vector<std::unique_ptr<MeasureService>>& devices() { return devices_; }
    [[nodiscard]] const DeviceFacts& facts() const { return devices_.front()->facts(); }  ///< of the first device

private:
    TemporaryDirectory scratch_{"jitgemm-tune"};  // outlives those who write there
    std::vector<std::unique_ptr<MeasureService>> devices_;
    CompilePoolOptions pool_;
    std::unique_ptr<CompilePool> compiling_;
};

}  // namespace jitgemm::tuning
