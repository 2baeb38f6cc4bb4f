#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/kernels/set_options.hpp"
#include "runtime/cli/kernels/verbs.hpp"
#include "runtime/cli/tune/options.hpp"
#include "runtime/cli/tune/output.hpp"
#include "runtime/cli/tune/running.hpp"
#include "runtime/tuning/search/set_points.hpp"
#include "runtime/tuning/store/tuned_sets.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::cli {
namespace {

using namespace tuning;

struct KernelsTuneOptions {
    TuneOptions tune;
    SetLimits limits;
};

/// The request for a set, and the device that measures for it.
struct SetRequest {
    GemmSpec spec;
    RowRange rows;
    Selection selection;
    KernelSetOptions limits;
    DeviceFacts device;

    [[nodiscard]] KernelSet choose(const std::vector<KernelTime>& times) const {
        KernelSetOptions options = limits;
        options.times = times;
        return build_kernel_set(spec, rows.first, rows.last, device.model, selection, options);
    }
};

void refuse_several_classes(const std::vector<std::unique_ptr<MeasureService>>& devices) {
    const std::string first = device_class(devices.front()->facts());
    for (const std::unique_ptr<MeasureService>& device : devices)
        if (const std::string other = device_class(device->facts()); other != first)
            throw UsageError(
                fmt::format("the devices are {} and {}: a set is tuned on devices of one class", first, other));
}

/// Predictions alone choose the points, so that the same command always measures the same: a call that was killed goes
/// on where it was.
std::vector<SetPoint> points_for(const SetRequest& request) {
    return set_points(request.choose({}), request.device.model, request.selection);
}

std::vector<TuneProblem> problems_at(const std::vector<SetPoint>& points, SweepOptions& asked) {
    std::vector<TuneProblem> problems;
    for (const SetPoint& point : points) {
        problems.push_back({point.spec, 1.0F, point.spec.c ? 1.0F : 0.0F});
        for (const std::string& kernel : point.kernels) asked.only.emplace_back(point.spec, kernel);
    }
    return problems;
}

std::vector<KernelTime> times_in(const std::vector<SetPoint>& points, const SweepResult& result) {
    std::vector<ProblemRecord> records;
    for (const TunedProblem& problem : result.problems) records.push_back(problem.record);
    std::vector<KernelTime> times = set_times(points, records);
    if (!times.empty()) return times;
    throw Error(fmt::format("no kernel was measured: {}",
                            result.stop == Stop::budget ? "--budget is too short" : result.problems.front().failure));
}

std::string keep_set(const std::string& directory, const SetRequest& request, const KernelSet& set) {
    try {
        return store_set(directory,
                         {device_class(request.device), request.device.versions, narrowing(request.selection), set});
    } catch (const std::system_error& error) {
        throw Error(fmt::format("the set cannot be stored: {}", error.what()));
    }
}

int tune_set(KernelsTuneOptions& options, Output& output) {
    SetRequest request;
    request.limits = options.limits.options();
    request.rows = options.tune.problem.take_row_range();
    static_cast<void>(sampled_rows(request.rows.first, request.rows.last));  // throws for a range that is none
    request.spec = options.tune.problem.problem().spec;
    request.selection = options.tune.problem.selection();
    SweepOptions asked = options.tune.sweep();
    asked.timing.against_cublaslt = false;
    asked.resume_finished = !asked.restart;
    const std::string directory = store_directory(options.tune);
    const std::unique_ptr<WorkerSet> worker_set = open_worker_set(options.tune, 0);
    refuse_several_classes(worker_set->devices());
    request.device = worker_set->facts();

    const std::vector<SetPoint> points = points_for(request);
    TuningStore store(directory);
    const std::vector<TuneProblem> problems = problems_at(points, asked);
    const SweepResult result = watched_sweep(problems, asked, options.tune.quiet, *worker_set, store, output);
    if (result.stop == Stop::interrupted) {
        output.note("jitgemm: interrupted. The same command goes on where this one stopped");
        output.document({{"set", nullptr}, {"stopped_by", "interrupted"}});
        return kExitInterrupted;
    }
    refuse_empty_space(result);
    const std::vector<KernelTime> times = times_in(points, result);
    const KernelSet set = request.choose(times);
    const std::string file = keep_set(directory, request, set);
    output.text(fmt::format("{}\nMeasured {} times at {} values of m. Stored in {}\n", to_string(set), times.size(),
                            points.size(), file));
    output.document({{"set", Json::parse(to_json(set))},
                     {"device_class", device_class(request.device)},
                     {"points", points.size()},
                     {"times", times.size()},
                     {"stored", file},
                     {"stopped_by", result.stop == Stop::budget ? "budget" : "none"}});
    return kExitFine;
}

}  // namespace

Action declare_kernels_tune(CLI::App& app) {
    auto options = std::make_shared<KernelsTuneOptions>();
    options->tune.declare_for_set(app);
    options->limits.declare(app);
    return [options](Output& output) { return tune_set(*options, output); };
}

}  // namespace jitgemm::cli
