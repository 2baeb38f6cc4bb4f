#include "jitgemm/error.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/shapes.hpp"
#include "runtime/cli/target.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/tuning/store/tuned_records.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "runtime/warm/warm_cache.hpp"
#include "runtime/warm/warm_plan.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace jitgemm::cli {
namespace {

using namespace warm;
using Clock = std::chrono::steady_clock;

constexpr int kMostJobs = 1024;  // more than cores: each is a thread here, and a process with a compiler in it
constexpr std::chrono::milliseconds kBetweenDocuments{1000};

struct WarmVerbOptions {
    ProblemOptions problem;
    std::string shapes;
    std::optional<int> jobs;
    bool quiet = false;
};

void check(const WarmVerbOptions& options) {
    if (options.jobs && (*options.jobs < 1 || *options.jobs > kMostJobs))
        throw UsageError(fmt::format("--jobs is {}: it must be from 1 to {}", *options.jobs, kMostJobs));
    if (options.problem.options().cache_directory.empty())
        throw UsageError("no folder for the cache: set JITGEMM_CACHE_DIR, XDG_CACHE_HOME or HOME");
}

std::vector<WarmRequest> requests_of(const WarmVerbOptions& options) {
    if (options.shapes.empty()) {
        const GemmSpec spec = options.problem.problem().spec;
        return {{spec, spec.m, false}};
    }
    std::vector<WarmRequest> requests;
    for (const ProblemSet& set : read_shape_sets(options.shapes, options.problem))
        requests.push_back({set.first.spec, set.last_m, set.is_range});
    return requests;
}

/// A GPU that nobody named would fill the cache with kernels that nobody asks for.
Target named_target(const ProblemOptions& problem) {
    Target target = choose_target(problem);
    if (target.assumed) throw UsageError("there is no GPU here: name the one to compile for with --gpu");
    return target;
}

WarmChooser chooser_of(const ProblemOptions& problem, const Target& target) {
    const Options options = problem.options();
    const TemplateSet templates = TemplateSet::from_directory(options.template_directory);
    return {target.gpu, tuning::tuned_choices(options, target.gpu, templates),
            tuning::tuned_sets(options, target.gpu, templates), problem.selection()};
}

WarmOptions warm_options(const WarmVerbOptions& options, const Target& target) {
    return {.program = {tuning::own_executable()},
            .options = options.problem.options(),
            .arch = target.gpu.arch,
            .newest_cuda_major = newest_major_of_machine(),
            .jobs = options.jobs.value_or(0)};
}

/// Shows how far the compiling is: a line for people, documents for programs.
class Watcher {
public:
    Watcher(Output& output, bool quiet) : output_(output), quiet_(quiet) {}

    void operator()(const WarmProgress& now) {
        if (quiet_) return;
        if (!output_.json())
            return output_.progress(fmt::format("[{}/{}] {} compiled, {} from the cache", now.done(), now.kernels,
                                                now.compiled, now.from_cache));
        if (Clock::now() - last_ < kBetweenDocuments) return;
        last_ = Clock::now();
        const Json document{{"event", "progress"},
                            {"done", now.done()},
                            {"kernels", now.kernels},
                            {"compiled", now.compiled},
                            {"from_cache", now.from_cache}};
        output_.note(document.dump());
    }

private:
    Output& output_;
    bool quiet_;
    Clock::time_point last_{};
};

std::string text_of(const WarmRequest& request) {
    std::string text = shape_text(request.spec);
    if (request.last_m != request.spec.m) text += fmt::format(" (and m up to {})", request.last_m);
    return text;
}

void print(const WarmPlan& plan, const WarmProgress& result, double seconds, Output& output) {
    for (const UnservedRequest& one : plan.unserved)
        output.text(fmt::format("not served: {}: {}\n", text_of(one.request), one.reason));
    for (const FailedKernel& one : result.failed) output.text(fmt::format("failed: {}: {}\n", one.name, one.message));
    output.text(fmt::format("{}, {}: {} compiled, {} from the cache, {} failed, in {:.1f} s\n",
                            counted(plan.problems, "problem"), counted(result.kernels, "kernel"), result.compiled,
                            result.from_cache, result.failed.size(), seconds));
}

Json document_of(const WarmPlan& plan, const WarmProgress& result, double seconds) {
    Json unserved = Json::array();
    for (const UnservedRequest& one : plan.unserved)
        unserved.push_back(
            {{"spec", to_string(one.request.spec)}, {"last_m", one.request.last_m}, {"reason", one.reason}});
    Json failed = Json::array();
    for (const FailedKernel& one : result.failed) failed.push_back({{"kernel", one.name}, {"message", one.message}});
    return {{"problems", plan.problems},   {"kernels", result.kernels},
            {"compiled", result.compiled}, {"from_cache", result.from_cache},
            {"unserved", unserved},        {"failed", failed},
            {"seconds", seconds}};
}

int run_warm(const WarmVerbOptions& options, Output& output) {
    check(options);
    const Clock::time_point begin = Clock::now();
    const std::vector<WarmRequest> requests = requests_of(options);
    const Target target = named_target(options.problem);
    const WarmOptions warming = warm_options(options, target);
    if (!options.quiet) output.progress(fmt::format("choosing kernels for {}", target.gpu.name));
    const WarmPlan plan = plan_warm(requests, chooser_of(options.problem, target), warming.jobs, interrupted);
    stop_if_interrupted();
    Watcher watcher(output, options.quiet);
    const WarmProgress result = warm_cache(plan.kernels, warming, std::ref(watcher), interrupted);
    stop_if_interrupted();
    output.progress("");
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    print(plan, result, seconds, output);
    Json document = document_of(plan, result, seconds);
    document["gpu"] = target.gpu.name;
    document["cache"] = warming.options.cache_directory;
    output.document(document);
    return plan.unserved.empty() && result.failed.empty() ? kExitFine : kExitFailed;
}

}  // namespace

Action declare_warm(CLI::App& app) {
    auto options = std::make_shared<WarmVerbOptions>();
    options->problem.declare_for_target(app);
    app.add_option("--shapes", options->shapes,
                   "Read problems from a file, one per line: TYPE LAYOUT M N K; sizes may be ranges: m=1:8192")
        ->type_name("FILE");
    app.add_option("--jobs", options->jobs, "Number of compiling processes (default: one per core)")->type_name("N");
    app.add_flag("--quiet", options->quiet, "Print no progress");
    return [options](Output& output) { return run_warm(*options, output); };
}

}  // namespace jitgemm::cli
