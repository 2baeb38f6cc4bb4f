#include "runtime/tuning/sweep/sweep.hpp"

#include "runtime/tuning/sweep/class_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace jitgemm::tuning {
namespace {

/// The devices by class, in the order of their first.
std::vector<std::unique_ptr<ClassSweep>> by_class(SharedSweep& shared,
                                                  std::vector<std::unique_ptr<MeasureService>>& devices) {
    std::vector<std::pair<std::string, std::vector<MeasureService*>>> groups;
    for (const std::unique_ptr<MeasureService>& device : devices) {
        const std::string name = device_class(device->facts());
        auto group = std::ranges::find(groups, name, [](const auto& one) { return one.first; });
        if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
        group->second.push_back(device.get());
    }
    shared.asked = groups.size() * shared.problems.size();
    std::vector<std::unique_ptr<ClassSweep>> sweeps;
    for (auto& [name, members] : groups) sweeps.push_back(std::make_unique<ClassSweep>(shared, members));
    return sweeps;
}

/// A thread for each problem in flight; the first error is thrown when all have ended.
void work(const std::vector<std::unique_ptr<ClassSweep>>& sweeps) {
    std::mutex mutex;
    std::exception_ptr error;
    const auto work_on = [&](ClassSweep& sweep, SharedDevice& device) {
        try {
            sweep.work(device);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (error == nullptr) error = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (const std::unique_ptr<ClassSweep>& sweep : sweeps) {
            for (const std::unique_ptr<SharedDevice>& device : sweep->devices())
                for (int i = 0; i < kProblemsInFlight; ++i) threads.emplace_back([&] { work_on(*sweep, *device); });
        }
    }
    if (error != nullptr) std::rethrow_exception(error);
}

Stop worst_stop(const std::vector<TunedProblem>& problems, bool interrupted) {
    Stop worst = interrupted ? Stop::interrupted : Stop::none;
    for (const TunedProblem& problem : problems) worst = std::max(worst, problem.stop);
    return worst;
}

}  // namespace

Sweep::Sweep(std::vector<TuneProblem> problems, SweepOptions options, Services services)
    : problems_(std::move(problems)), options_(std::move(options)), services_(std::move(services)) {}

SweepResult Sweep::run() {
    SharedSweep shared{.problems = problems_, .options = options_, .services = services_};
    const std::vector<std::unique_ptr<ClassSweep>> sweeps = by_class(shared, services_.devices);
    work(sweeps);
    SweepResult result;
    for (const std::unique_ptr<ClassSweep>& sweep : sweeps) {
        sweep->finish();
        sweep->add_to(result);
    }
    result.stop = worst_stop(result.problems, services_.interrupted());
    result.seconds = shared.elapsed();
    return result;
}

std::string sweep_request(const std::vector<TuneProblem>& problems, const SweepOptions& options) {
    std::string text = fmt::format(
        "strategy={} max-candidates={} protocol={} hot={} cublaslt={} family={} kernel={}", to_string(options.strategy),
        options.limits.max_candidates, to_string(options.timing.protocol), options.timing.hot,
        options.timing.against_cublaslt, options.selection.family.value_or(""), options.selection.kernel.value_or(""));
    for (const auto& [name, value] : options.selection.parameters) text += fmt::format(" {}={}", name, value);
    for (const auto& [spec, kernel] : options.only) text += fmt::format(" only={}", kernel);
    for (const TuneProblem& problem : problems) {
        text += fmt::format("\n{} alpha={} beta={}", to_string(problem.spec), problem.alpha, problem.beta);
        if (has_groups(problem.spec))
            text += fmt::format(" group-sizes={}:{}", to_string(problem.group_sizes), problem.seed);
    }
    return text;
}

}  // namespace jitgemm::tuning
