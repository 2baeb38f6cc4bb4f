#include "jitgemm/error.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/tune/options.hpp"
#include "runtime/cli/tune/output.hpp"
#include "runtime/cli/tune/running.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/support/launch_rank.hpp"
#include "runtime/support/output_file.hpp"
#include "runtime/tuning/fit/fit.hpp"
#include "runtime/tuning/report/tune_report.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/sweep/sweep.hpp"
#include "runtime/tuning/sweep/worker_set.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>

namespace jitgemm::cli {
namespace {

using namespace tuning;

/// Winners of problems that only other versions measured: each is measured again beside the heuristic's kernel of
/// today.
std::vector<TuneProblem> stale_problems(const TuningStore& store, const DeviceFacts& facts, SweepOptions& asked) {
    const std::vector<Winner> winners = store.winners(device_class(facts));
    const auto is_measured_today = [&](const GemmSpec& spec) {
        return std::ranges::any_of(
            winners, [&](const Winner& one) { return one.spec == spec && !is_stale(one, facts.versions); });
    };
    std::vector<TuneProblem> problems;
    for (const Winner& winner : winners) {
        if (is_measured_today(winner.spec)) continue;
        if (problems.empty() || problems.back().spec != winner.spec)  // they come sorted by spec
            problems.push_back({winner.spec, 1.0F, winner.spec.c ? 1.0F : 0.0F});
        asked.only.emplace_back(winner.spec, winner.kernel);
    }
    return problems;
}

void write_files(const TuneOptions& options, const SweepResult& result, const DeviceFacts& facts, Output& output) {
    TuneReport report{.device = facts, .problems = {}};
    for (const TunedProblem& problem : result.problems) report.problems.push_back(problem.record);
    if (options.csv_to_stdout())
        output.raw(tune_csv(report));
    else if (!options.csv.empty())
        write_output_file(options.csv, tune_csv(report));
    if (!options.measurements.empty()) write_output_file(options.measurements, json_line(tune_json(report)) + "\n");
    if (options.report.empty()) return;
    write_output_file(options.report, tune_page(report));
    output.text(fmt::format("page: {}\n", options.report));
}

int exit_code(const SweepResult& result) {
    if (result.stop == Stop::interrupted) return kExitInterrupted;
    const bool failed = std::ranges::any_of(
        result.problems, [](const TunedProblem& problem) { return !problem.record.winner && !problem.unserved; });
    return failed ? kExitFailed : kExitFine;
}

int sweep(const TuneOptions& options, const std::vector<TuneProblem>& problems, const SweepOptions& asked,
          WorkerSet& worker_set, TuningStore& store, Output& output) {
    const SweepResult result = watched_sweep(problems, asked, options.quiet, worker_set, store, output);
    refuse_empty_space(result);
    if (result.was_finished)
        for (const TunedProblem& problem : result.problems) output.text(tune_line(problem));
    output.text(tune_summary(result, worker_set.devices().size()));
    write_files(options, result, worker_set.facts(), output);
    output.document(tune_document(result, store.path(), worker_set.devices().size()));
    return exit_code(result);
}

int run_refresh(const TuneOptions& options, SweepOptions asked, const std::string& directory, Output& output) {
    const std::unique_ptr<WorkerSet> worker_set = open_worker_set(options, 0);
    TuningStore store(directory);
    const std::vector<TuneProblem> problems = stale_problems(store, worker_set->facts(), asked);
    if (!problems.empty()) return sweep(options, problems, asked, *worker_set, store, output);
    output.text("every winner for this device was measured with the current versions\n");
    output.document(tune_document({}, store.path(), 1));
    return kExitFine;
}

/// The store's points of the GPU that the options name, else of this machine's GPU.
std::vector<FitPoint> stored_points(const TuningStore& store, const GpuModel& gpu) {
    std::set<std::string> classes;
    for (const Winner& winner : store.winners())
        if (may_be_of_class(gpu, winner.device_class)) classes.insert(winner.device_class);
    std::vector<FitPoint> points;
    for (const std::string& one : classes)
        std::ranges::move(fit_points(store.read_class(one)), std::back_inserter(points));
    return points;
}

/// The table is printed, not used: it goes into cost/ of a build.
int run_fit(const TuneOptions& options, const std::string& directory, Output& output) {
    const GpuModel gpu = options.gpu.empty() ? open_worker_set(options, 0)->facts().model : find_gpu(options.gpu);
    const TuningStore store(directory);
    const TableFit fit = fit_cost_table(stored_points(store, gpu), gpu, options.problem.selection().family);
    output.note(fit_text(fit, gpu));
    output.text(table_text(fit, gpu));
    const auto regret = [](const ChoiceRegret& one) { return Json{{"mean", one.mean}, {"worst", one.worst}}; };
    Json families = Json::object();
    for (const FamilyFit& one : fit.families)
        families[std::string(one.family->name)] = {{"taken", one.is_taken},
                                                   {"points", one.result.points},
                                                   {"before", regret(one.before)},
                                                   {"held_out", regret(one.held_out)}};
    output.document({{"gpu", gpu.name},
                     {"problems", fit.problems},
                     {"before", regret(fit.before)},
                     {"held_out", regret(fit.held_out)},
                     {"families", families},
                     {"table", Json::parse(table_text(fit, gpu))}});
    return kExitFine;
}

void claim_stdout_for_rows(Output& output) {
    if (output.json()) throw UsageError("--json and --csv - both write to stdout: name a file with --csv FILE");
    output.keep_stdout_for_raw();
}

int run_tune(const TuneOptions& options, Output& output) {
    const SweepOptions asked = options.sweep();
    const std::string directory = store_directory(options);
    check_output_file("report", options.report);
    if (options.csv_to_stdout())
        claim_stdout_for_rows(output);
    else
        check_output_file("csv", options.csv);
    check_output_file("measurements", options.measurements);
    if (options.fit) return run_fit(options, directory, output);
    if (options.refresh) return run_refresh(options, asked, directory, output);

    const std::vector<TuneProblem> problems = options.problems();
    if (problems.empty()) {
        output.note("jitgemm: this part of the split sweep has no problem");
        output.document(tune_document({}, directory, 0));
        return kExitFine;
    }
    const std::optional<LaunchRank> rank = launch_rank_from_environment();
    const std::unique_ptr<WorkerSet> worker_set = open_worker_set(options, rank ? rank->local_rank : 0);
    TuningStore store(directory);
    return sweep(options, problems, asked, *worker_set, store, output);
}

// ---- merge ----------------------------------------------------------------------------------------------------------

/// The stores that parts of a split sweep left in the tuning folder.
std::vector<std::string> shard_directories(const std::string& root) {
    std::vector<std::string> found;
    std::error_code ignored;  // a folder that is not there holds none
    for (const auto& entry : std::filesystem::directory_iterator(root, ignored))
        if (entry.is_directory() && entry.path().filename().string().starts_with("shard-"))
            found.push_back(entry.path().string());
    std::ranges::sort(found);
    return found;
}

int run_merge(const std::vector<std::string>& given, Output& output) {
    const std::string root = tool_options().tuning_directory;
    const std::vector<std::string> sources = given.empty() ? shard_directories(root) : given;
    if (sources.empty()) throw UsageError(fmt::format("nothing to merge: {} holds no shard-I-of-N folder", root));
    for (const std::string& source : sources)
        if (!std::filesystem::exists(source)) throw UsageError(fmt::format("'{}' does not exist", source));
    TuningStore store(root);
    Json merged = Json::array();
    for (const std::string& source : sources) {
        const TuningStore::MergeResult result = store.merge(source);
        output.text(fmt::format("{}: {}, {}, {}\n", source, counted(result.sweeps, "sweep"),
                                counted(result.winners, "winner"), counted(result.conflicts, "conflict")));
        merged.push_back({{"source", source},
                          {"sweeps", result.sweeps},
                          {"winners", result.winners},
                          {"conflicts", result.conflicts}});
    }
    output.document({{"store", store.path()}, {"merged", merged}});
    return kExitFine;
}

Action declare_merge(CLI::App& app) {
    auto sources = std::make_shared<std::vector<std::string>>();
    app.add_option("store", *sources, "Folders of other stores (default: the parts of a split sweep, shard-I-of-N)")
        ->type_name("");
    return [sources](Output& output) { return run_merge(*sources, output); };
}

constexpr std::array kTuneVerbs{Verb{
    "merge", "Merge other stores into this one: parts of a split sweep, results of other machines", declare_merge}};

}  // namespace

Action declare_tune(CLI::App& app) {
    auto options = std::make_shared<TuneOptions>();
    options->declare(app);
    return [options](Output& output) { return run_tune(*options, output); };
}

std::span<const Verb> tune_verbs() { return kTuneVerbs; }

}  // namespace jitgemm::cli
