#include "runtime/tuning/sweep/context_tuner.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/sweep/sweep.hpp"
#include "runtime/tuning/sweep/worker_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr const char* kStopped = "the context went away before it was tuned";

std::string name_of(const Options& options, const Device& device) {
    return device.kind() == DeviceKind::emulator ? options.device : fmt::format("cuda:{}", device.ordinal());
}

Winner winner_of(const SweepResult& result) {
    const TunedProblem& problem = result.problems.at(0);
    if (problem.record.winner) return *problem.record.winner;
    throw Error(problem.failure.empty() ? "no candidate was measured in the time allowed" : problem.failure);
}

}  // namespace

ContextTuner::ContextTuner(const Options& options, const Device& device)
    : options_(options), device_(name_of(options, device)) {}

ContextTuner::~ContextTuner() {
    stop_ = true;
    {
        const std::lock_guard lock(mutex_);
        arrived_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

Winner ContextTuner::tune(const GemmSpec& spec) {
    if (options_.tuning_directory.empty())
        throw Error("Options::tuning_directory is empty: set it to a folder for tuning records");
    const std::lock_guard lock(measuring_);
    if (const auto known = finished_.find(spec); known != finished_.end()) return known->second;
    Winner winner = search(spec);
    if (winner.complete) finished_.emplace(spec, winner);
    return winner;
}

Winner ContextTuner::search(const GemmSpec& spec) {
    WorkerSet worker_set({.program = {tool_program(options_)}, .options = options_, .devices = {device_}});
    TuningStore store(options_.tuning_directory);
    SweepOptions asked;
    asked.budget_seconds = options_.tuning_seconds;
    asked.timing.against_cublaslt = false;
    Sweep sweep(
        {{spec, 1.0F, spec.c ? 1.0F : 0.0F}}, asked,
        {.compiling = worker_set.compiling(), .devices = worker_set.devices(), .store = store, .interrupted = [this] {
             return stop_.load();
         }});
    const SweepResult result = sweep.run();
    if (result.stop == Stop::interrupted) throw Error(kStopped);
    return winner_of(result);
}

void ContextTuner::tune_later(const GemmSpec& spec, Ended ended) {
    try {
        enqueue(spec, ended);
    } catch (const std::system_error& error) {
        ended(nullptr, fmt::format("no thread can be started to tune in: {}", error.what()));
    }
}

/// Nothing waits where there is no thread to serve it.
void ContextTuner::enqueue(const GemmSpec& spec, const Ended& ended) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    const auto waiting = std::ranges::find(queue_, spec, &Request::spec);
    if (waiting != queue_.end())
        waiting->listeners.push_back(ended);
    else
        queue_.push_back({spec, {ended}});
    arrived_.notify_one();
}

void ContextTuner::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        arrived_.wait(lock, [this] { return stop_ || !queue_.empty(); });
        if (queue_.empty()) return;
        const Request request = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        serve(request);
        lock.lock();
    }
}

void ContextTuner::serve(const Request& request) {
    std::optional<Winner> winner;
    std::string failure = kStopped;
    try {
        if (!stop_) winner = tune(request.spec);
    } catch (const std::exception& error) {
        failure = error.what();
    }
    for (const Ended& ended : request.listeners) {
        try {
            ended(winner ? &*winner : nullptr, winner ? std::string() : failure);
        } catch (const std::exception& error) {
            log().error("after tuning {}: {}", to_string(request.spec), error.what());
        } catch (...) {  // the program's own callback may throw anything
            log().error("after tuning {}: an unknown exception", to_string(request.spec));
        }
    }
}

}  // namespace jitgemm::tuning

std::unique_ptr<jitgemm::Tuner> jitgemm::make_tuner(const Options& options, const Device& device) {
    return std::make_unique<tuning::ContextTuner>(options, device);
}
