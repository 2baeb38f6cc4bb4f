#include "runtime/cli/tune/running.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/tune/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace jitgemm::cli {
namespace {

using namespace tuning;

std::vector<GemmSpec> specs_of(const std::vector<TuneProblem>& problems) {
    std::vector<GemmSpec> specs;
    for (const TuneProblem& problem : problems) specs.push_back(problem.spec);
    return specs;
}

WorkerSetOptions worker_set_options(const TuneOptions& options, const std::vector<std::string>& devices) {
    return {.program = options.worker_program(),
            .options = options.problem.options(),
            .devices = devices,
            .workers = options.workers.value_or(0),
            .compile_timeout = std::chrono::seconds(options.compile_timeout),
            .watchdog = std::chrono::seconds(options.watchdog)};
}

}  // namespace

std::unique_ptr<WorkerSet> open_worker_set(const TuneOptions& options, int local_rank) {
    try {
        return std::make_unique<WorkerSet>(worker_set_options(options, options.device_names(local_rank)));
    } catch (const CudaError& error) {
        if (!options.devices.empty()) throw;
        throw CudaError(
            fmt::format("{}\nwithout a GPU, --device emulator:sm_80 shows what tuning does; its results serve "
                        "the emulator alone",
                        error.what()),
            error.result_name(), error.call());
    }
}

std::string store_directory(const TuneOptions& options) {
    const std::string root = options.problem.options().tuning_directory;
    if (root.empty())
        throw Error("no place for tuning records: set JITGEMM_TUNING_DIR, XDG_DATA_HOME or HOME to a folder");
    const std::optional<Shard> shard = options.which_shard();
    return shard ? fmt::format("{}/shard-{}-of-{}", root, shard->index, shard->count) : root;
}

void refuse_empty_space(const SweepResult& result) {
    const auto unserved = [](const TunedProblem& problem) { return problem.unserved; };
    if (!result.problems.empty() && std::ranges::all_of(result.problems, unserved))
        throw UsageError(result.problems.front().failure);
}

SweepResult watched_sweep(const std::vector<TuneProblem>& problems, const SweepOptions& asked, bool quiet,
                          WorkerSet& worker_set, TuningStore& store, Output& output) {
    TuneWatcher watcher(output, specs_of(problems), quiet);
    return Sweep(problems, asked,
                 {.compiling = worker_set.compiling(),
                  .devices = worker_set.devices(),
                  .store = store,
                  .interrupted = interrupted,
                  .on_progress = [&](const SweepProgress& now) { watcher.progress(now); },
                  .on_problem = [&](const TunedProblem& one) { watcher.problem(one); }})
        .run();
}

}  // namespace jitgemm::cli
