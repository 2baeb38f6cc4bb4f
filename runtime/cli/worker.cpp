#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/log.hpp"
#include "runtime/tuning/compile_work.hpp"
#include "runtime/tuning/measure_work.hpp"
#include "runtime/tuning/worker_command.hpp"
#include "runtime/tuning/worker_loop.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

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

Action declare_compile(CLI::App& app) {
    return [settings = declare_settings(app)](Output&) {
        const tuning::WorkerCommand command = command_of(*settings);
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
