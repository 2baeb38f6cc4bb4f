#include "jitgemm/error.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/workers/compile_work.hpp"
#include "runtime/tuning/workers/measure_work.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <malloc.h>

/// \file What a sweep starts as its child processes (docs/tuning-processes.md). Not for people: the conversation is
/// JSON lines on stdin and stdout.

namespace jitgemm::cli {
namespace {

using Settings = std::shared_ptr<std::vector<std::string>>;

Settings declare_settings(CLI::App& app) {
    auto settings = std::make_shared<std::vector<std::string>>();
    app.add_option("--setting", *settings, "device, cache, nvrtc ... as NAME=VALUE; may be repeated")
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
    return settings;
}

tuning::WorkerCommand command_of(const std::vector<std::string>& settings) {
    tuning::WorkerCommand command;
    command.options = Options::from_environment();
    try {
        for (const std::string& setting : settings) tuning::apply_setting(setting, command);
    } catch (const Error& error) {
        throw UsageError(error.what());
    }
    set_log_level(command.options.log_level);
    return command;
}

/// NVRTC takes and frees some 25 MB per kernel. Given back to the system each time, they cost 6,400 page faults to get
/// again, 5 % of a compile; so the heap keeps what it had, up to a bound.
void keep_freed_memory() {
    constexpr int kKept = 256 << 20;
    constexpr int kLargestBlock = 32 << 20;  // the largest glibc takes from the heap
    mallopt(M_MMAP_THRESHOLD, kLargestBlock);
    mallopt(M_TRIM_THRESHOLD, kKept);
}

Action declare_compile(CLI::App& app) {
    return [settings = declare_settings(app)](Output&) {
        const tuning::WorkerCommand command = command_of(*settings);
        keep_freed_memory();
        return tuning::serve_compiling([&] { return tuning::make_compile_work(command); });
    };
}

Action declare_measure(CLI::App& app) {
    return [settings = declare_settings(app)](Output&) {
        const tuning::WorkerCommand command = command_of(*settings);
        return tuning::serve_measuring([&] { return tuning::make_measure_work(command); });
    };
}

constexpr std::array kWorkers{
    Verb{"compile", "Compile kernels into a cache until stdin ends", declare_compile},
    Verb{"measure", "Verify and time kernels on one device until stdin ends", declare_measure},
};

}  // namespace

std::span<const Verb> worker_verbs() { return kWorkers; }

}  // namespace jitgemm::cli
