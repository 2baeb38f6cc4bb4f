#pragma once

#include "jitgemm/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::tuning {

/// How a worker process is started: `PROGRAM… worker compile|measure --setting name=value …`, where PROGRAM is the
/// tool, or another program that understands the same words (tests have one with a scripted device).
struct WorkerCommand {
    std::vector<std::string> program;  ///< a path, and whatever words go before `worker`
    /// Whatever of it finds NVRTC, templates and the device; `cache_directory` is the sweep's own scratch cache, which
    /// compile workers write and the measuring worker reads.
    Options options;
    int newest_cuda_major = 0;  ///< largest CUDA major whose binaries the device takes; 0: any
};

/// The running program itself.
[[nodiscard]] std::string own_executable();
/// The tool that `options.tool` names, `jitgemm` where it is empty: a path, or a name that is looked up in PATH. Throws
/// Error with the places where it was looked for.
[[nodiscard]] std::string tool_program(const Options& options);

[[nodiscard]] std::vector<std::string> compile_worker_words(const WorkerCommand& command);
/// On `command.options.device`.
[[nodiscard]] std::vector<std::string> measure_worker_words(const WorkerCommand& command);

/// Reads back one `name=value`. Throws Error naming what is no setting.
void apply_setting(std::string_view text, WorkerCommand& command);

}  // namespace jitgemm::tuning
