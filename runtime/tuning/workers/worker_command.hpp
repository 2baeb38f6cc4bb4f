#pragma once

#include "jitgemm/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::tuning {

/// The start of a worker process: `PROGRAM… worker compile|measure --setting name=value …`. PROGRAM is the tool, or
/// another program with the same words (tests have one with a scripted device).
struct WorkerCommand {
    std::vector<std::string> program;  ///< a path, and any words before `worker`
    /// The settings that find NVRTC, templates and the device. `cache_directory` is the sweep's own scratch cache,
    /// which compile workers write and the measuring worker reads.
    Options options;
    int newest_cuda_major = 0;  ///< largest CUDA major whose binaries the device takes; 0: any
};

/// The running program itself.
[[nodiscard]] std::string own_executable();
/// The tool that `options.tool` names, or `jitgemm` if it is empty: a path, or a name that is looked up in PATH. Throws
/// Error with the places that were tried.
[[nodiscard]] std::string tool_program(const Options& options);

[[nodiscard]] std::vector<std::string> compile_worker_words(const WorkerCommand& command);
/// The words for `command.options.device`.
[[nodiscard]] std::vector<std::string> measure_worker_words(const WorkerCommand& command);

/// Reads one `name=value`. Throws Error for an unknown setting.
void apply_setting(std::string_view text, WorkerCommand& command);

}  // namespace jitgemm::tuning
