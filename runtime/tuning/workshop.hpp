#pragma once

#include "runtime/jitgemm.hpp"
#include "runtime/temporary_directory.hpp"
#include "runtime/tuning/services.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm::tuning {

struct WorkshopOptions {
    std::vector<std::string> program;  ///< of the worker processes, and the words before `worker`
    Options options;                   ///< whatever of it finds NVRTC and templates
    std::vector<std::string> devices;  ///< as Options::device takes them, at least one
    int workers = 0;                   ///< that compile; 0: one a core
    std::chrono::seconds compile_timeout{60};
    std::chrono::seconds watchdog{30};  ///< MeasuringOptions::patience
};

/// The processes that compile and measure for a sweep, and the folder through which they pass kernels.
class Workshop {
public:
    /// Starts a measuring process a device and one that compiles. Throws Error with their words when one cannot work.
    explicit Workshop(const WorkshopOptions& options);

    [[nodiscard]] Compiling& compiling() { return *compiling_; }
    [[nodiscard]] std::vector<std::unique_ptr<Measuring>>& devices() { return devices_; }
    [[nodiscard]] const DeviceFacts& facts() const { return devices_.front()->facts(); }  ///< of the first device

private:
    TemporaryDirectory scratch_{"jitgemm-tune"};  // outlives those who write there
    std::vector<std::unique_ptr<Measuring>> devices_;
    std::unique_ptr<Compiling> compiling_;
};

}  // namespace jitgemm::tuning
