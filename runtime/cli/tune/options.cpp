#include "runtime/cli/tune/options.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/quantities.hpp"
#include "runtime/cli/shapes.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/support/default_device.hpp"
#include "runtime/support/launch_rank.hpp"
#include "runtime/tuning/workers/worker_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <sstream>
#include <unordered_set>

namespace jitgemm::cli {
namespace {

constexpr int kMostWorkers = 1024;  // more than cores: each is a thread here, and a process with a compiler in it
constexpr std::array<std::string_view, 3> kProtocols{"steady", "cold", "hot"};

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

std::vector<std::string> all_gpus() {
    std::string reason;
    const int count = gpu_count(reason);
    if (count == 0) throw Error(fmt::format("--devices all: no GPU here: {}", reason));
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(fmt::format("cuda:{}", i));
    return names;
}

/// "1" is short for "cuda:1".
std::string device_name(const std::string& word) {
    if (const std::optional<int> ordinal = parse_number<int>(word); ordinal && *ordinal >= 0)
        return fmt::format("cuda:{}", *ordinal);
    return to_string(parse_device_name(word));
}

/// JITGEMM_DEVICE. Where that names no device, or a GPU without its number: the GPU of this process among those of its
/// machine.
std::string usual_device(int local_rank) {
    const DeviceName name = parse_device_name(device_from_environment().value_or("cuda"));
    if (name.kind == DeviceKind::cuda && !name.ordinal) return fmt::format("cuda:{}", local_rank);
    return to_string(name);
}

Shard parse_shard(const std::string& text) {
    const std::size_t slash = text.find('/');
    const std::optional<int> index = parse_number<int>(std::string_view(text).substr(0, slash));
    const std::optional<int> count =
        slash == std::string::npos ? std::nullopt : parse_number<int>(std::string_view(text).substr(slash + 1));
    if (index && count && *index >= 0 && *index < *count) return {*index, *count};
    throw UsageError(fmt::format("--shard is '{}': expected I/N, part I (from 0) of N, such as 2/8", text));
}

void add_file(CLI::App& app, const char* name, std::string& value, const char* description) {
    app.add_option(name, value, description)->type_name("FILE");
}

void declare_search(CLI::App& app, TuneOptions& options) {
    const auto option = [&app](const char* name, auto& value, const char* description) {
        return app.add_option(name, value, description)->type_name("")->group("Search");
    };
    const auto flag = [&app](const char* name, bool& value, const char* description) {
        app.add_flag(name, value, description)->group("Search");
    };
    option("--strategy", options.strategy,
           "exhaustive: every candidate; model: the best predicted, then those that the measurements make promising")
        ->capture_default_str();
    option("--budget", options.budget, "Time limit for all problems together: 60s, 5m, 1h30m (default: none)");
    option("--max-candidates", options.max_candidates,
           "Number of kernels to try per problem (default: the strategy decides)");
    flag("--resume", options.resume, "Report a finished sweep of the same request instead of starting a new one");
    flag("--restart", options.restart, "Start again instead of continuing an unfinished sweep");
    flag("--refresh", options.refresh,
         "Measure winners again that another version of jitgemm, driver or CUDA measured");
    option("--shard", options.shard,
           "I/N: take part I (from 0) of the problems split N ways; each part has its own store");
}

void declare_workers(CLI::App& app, TuneOptions& options) {
    const auto option = [&app](const char* name, auto& value, const char* description) {
        return app.add_option(name, value, description)->type_name("")->group("Measuring");
    };
    option("--device,--devices", options.devices,
           "One device, all, or a list: 0,1 or cuda:0,emulator:sm_80 (default: JITGEMM_DEVICE, else the first GPU)");
    option("--workers", options.workers, "Number of compiling processes (default: one per core)");
    option("--compile-timeout", options.compile_timeout, "Time limit of a compile in seconds")->capture_default_str();
    option("--watchdog", options.watchdog,
           "Time limit in seconds for verifying a kernel or timing it once, beyond the time its work needs")
        ->capture_default_str();
    option("--worker", options.worker, "Program of the worker processes")->group("");
    app.add_flag("--quiet", options.quiet, "Print no progress");
}

void declare_protocol(CLI::App& app, TuneOptions& options) {
    app.add_option("--protocol", options.protocol,
                   "steady: rotating operands; cold: L2 flushed; hot: one set of operands")
        ->type_name("")
        ->group("Measuring")
        ->capture_default_str();
    app.add_option("--group-sizes", options.group_sizes,
                   "How rows are divided among groups: uniform, random or skewed; random:5 has a seed. A line of a "
                   "shape file may have its own, group-sizes=random")
        ->type_name("")
        ->group("Measuring")
        ->capture_default_str();
    app.add_flag("--no-cublaslt", options.no_cublaslt, "Do not time cuBLASLt beside the finalists")->group("Measuring");
}

void check_count(std::string_view option, const std::optional<int>& count) {
    if (count && *count < 1) throw UsageError(fmt::format("--{} is {}: it must be at least 1", option, *count));
}

/// A record serves launches with every alpha and beta. With 0, a kernel leaves work out, and its time says nothing of
/// the others.
void refuse_scalars_that_leave_work_out(const ProblemRequest& request) {
    std::vector<std::string> reasons;
    if (request.alpha == 0) reasons.emplace_back("--alpha is 0: kernels then leave the product out");
    if (request.spec.c && request.beta == 0) reasons.emplace_back("--beta is 0: kernels then leave C out");
    if (reasons.empty()) return;
    reasons.emplace_back("a tuned kernel serves every alpha and beta: leave them out, or choose values other than 0");
    throw UsageError("these scalars cannot be tuned", reasons);
}

}  // namespace

void TuneOptions::declare(CLI::App& app) {
    problem.declare_problem(app);
    problem.declare_selection(app);
    add_file(app, "--shapes", shapes,
             "Read problems from a file, one per line: TYPE LAYOUT M N K; sizes may be ranges: m=1:128:*2");
    declare_search(app, *this);
    declare_workers(app, *this);
    declare_protocol(app, *this);
    add_file(app, "--report", report, "Write an HTML page: winners, distributions, influence of parameters, failures");
    add_file(app, "--csv", csv, "Write every measurement as a CSV row; - for stdout");
    add_file(app, "--measurements", measurements, "Write all measurements, compile logs and winners as JSON");
    app.add_flag("--fit", fit, "Fit the cost models to stored measurements, and print a table for cost/");
    app.add_option("--gpu", gpu, "With --fit: take the measurements of this GPU (default: this machine's)")
        ->type_name("NAME");
}

void TuneOptions::declare_for_set(CLI::App& app) {
    problem.declare_problem(app);
    problem.declare_selection(app);
    app.add_option("--budget", budget, "Time limit: 60s, 5m, 1h30m (default: none)")->type_name("")->group("Search");
    app.add_flag("--restart", restart, "Measure again, also what an earlier call has measured")->group("Search");
    declare_workers(app, *this);
}

void TuneOptions::check() const {
    if (!gpu.empty() && !fit) throw UsageError("--gpu names the GPU of a --fit: tuning runs on --device");
    if (resume && restart) throw UsageError("--resume and --restart contradict each other: leave one out");
    check_count("max-candidates", max_candidates);
    check_count("workers", workers);
    if (workers > kMostWorkers)
        throw UsageError(fmt::format("--workers is {}: it must be at most {}", *workers, kMostWorkers));
    check_different("report", report, "csv", csv);
    check_different("report", report, "measurements", measurements);
    check_different("csv", csv, "measurements", measurements);
    if (watchdog < 1) throw UsageError(fmt::format("--watchdog is {}: it must be at least 1 second", watchdog));
    if (compile_timeout < 1)
        throw UsageError(fmt::format("--compile-timeout is {}: it must be at least 1 second", compile_timeout));
    require_one_of("--protocol", protocol, kProtocols);
    static_cast<void>(parse_group_draw("--group-sizes", group_sizes));
}

tuning::SweepOptions TuneOptions::sweep() const {
    check();
    tuning::SweepOptions sweep;
    try {
        sweep.strategy = tuning::parse_strategy(strategy);
    } catch (const Error& error) {
        throw UsageError(fmt::format("--strategy: {}", error.what()));
    }
    sweep.limits.max_candidates = max_candidates.value_or(0);
    sweep.selection = problem.selection();
    if (sweep.selection.kernel) static_cast<void>(parse_kernel_name(*sweep.selection.kernel));
    if (sweep.selection.family) static_cast<void>(find_family(*sweep.selection.family));
    sweep.timing.protocol = protocol == "cold" ? Protocol::cold : Protocol::steady;
    sweep.timing.hot = protocol == "hot";
    sweep.timing.against_cublaslt = !no_cublaslt;
    if (!budget.empty()) sweep.budget_seconds = parse_duration("budget", budget);
    sweep.resume_finished = resume;
    sweep.restart = restart;
    return sweep;
}

std::vector<std::string> TuneOptions::device_names(int local_rank) const {
    if (devices.empty()) return {usual_device(local_rank)};
    if (devices == "all") return all_gpus();
    std::vector<std::string> names;
    for (const std::string& word : split(devices, ',')) {
        const std::string name = device_name(word);
        if (std::ranges::find(names, name) != names.end())
            throw UsageError(fmt::format("--devices names {} twice", name));
        names.push_back(name);
    }
    if (names.empty()) throw UsageError("--devices is empty: expected all, or a list such as 0,1");
    return names;
}

std::optional<Shard> TuneOptions::which_shard() const {
    if (!shard.empty()) return parse_shard(shard);
    const std::optional<LaunchRank> rank = launch_rank_from_environment();
    return rank && rank->size > 1 ? std::optional(Shard{rank->rank, rank->size}) : std::nullopt;
}

std::vector<tuning::TuneProblem> TuneOptions::problems() const {
    const std::vector<ProblemRequest> asked =
        shapes.empty() ? std::vector{problem.problem()} : read_shapes(shapes, problem);
    const GroupDraw of_option = parse_group_draw("--group-sizes", group_sizes);
    std::vector<tuning::TuneProblem> each_once;
    std::unordered_set<GemmSpec> seen;
    for (const ProblemRequest& request : asked) {
        refuse_scalars_that_leave_work_out(request);
        const GroupDraw draw = request.group_draw.value_or(of_option);
        tuning::TuneProblem one{resolved(request.spec), request.alpha, request.beta, draw.sizes};
        one.seed = draw.seed.value_or(one.seed);
        if (seen.insert(one.spec).second) each_once.push_back(one);
    }
    const Shard part = which_shard().value_or(Shard{});
    std::vector<tuning::TuneProblem> ours;
    for (std::size_t i = static_cast<std::size_t>(part.index); i < each_once.size();
         i += static_cast<std::size_t>(part.count))
        ours.push_back(each_once[i]);
    return ours;
}

std::vector<std::string> TuneOptions::worker_program() const {
    return worker.empty() ? std::vector{tuning::own_executable()} : split(worker, ' ');
}

}  // namespace jitgemm::cli
