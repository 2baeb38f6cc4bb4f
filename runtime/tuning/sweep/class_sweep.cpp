#include "runtime/tuning/sweep/class_sweep.hpp"

#include "jitgemm/error.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "runtime/tuning/workers/problem_benches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace jitgemm::tuning {
namespace {

using Clock = SharedSweep::Clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Tries what it was given, as far as the space has it.
class GivenKernels final : public Strategy {
public:
    GivenKernels(const SearchSpace& space, const std::vector<std::string>& kernels) {
        for (const std::string& kernel : kernels) {
            const bool is_there = std::ranges::find(space.kernels, kernel) != space.kernels.end();
            if (is_there && std::ranges::find(kernels_, kernel) == kernels_.end()) kernels_.push_back(kernel);
        }
    }
    [[nodiscard]] std::vector<std::string> propose(const std::vector<Trial>& known) const override {
        std::vector<std::string> untried;
        for (const std::string& kernel : kernels_)
            if (std::ranges::find(known, kernel, &Trial::kernel) == known.end()) untried.push_back(kernel);
        return untried;
    }

private:
    std::vector<std::string> kernels_;
};

std::unique_ptr<Strategy> strategy_for(const SearchSpace& space, const SweepOptions& options) {
    if (options.only.empty()) return make_strategy(options.strategy, space, options.limits);
    std::vector<std::string> kernels;
    for (const auto& [spec, kernel] : options.only)
        if (spec == space.spec) kernels.push_back(kernel);
    return std::make_unique<GivenKernels>(space, kernels);
}

/// The options that kept the search from the whole space, for Winner::narrowed.
std::string narrowing_of(const SearchSpace& space, const SweepOptions& options) {
    std::vector<std::string> words;
    if (!options.selection.takes_all()) words.push_back(narrowing(options.selection));
    if (!options.only.empty()) words.emplace_back("known-winners");
    const auto most = static_cast<std::size_t>(options.limits.max_candidates);
    if (most > 0 && most < own_limit(options.strategy, space.kernels.size()))
        words.push_back(fmt::format("max-candidates={}", most));
    return fmt::format("{}", fmt::join(words, " "));
}

std::string no_winner(const TrialLog& log) {
    std::string text = fmt::format("none of {} candidates gave a right result", log.trials().size());
    const auto wanting = std::ranges::count(log.trials(), Verdict::no_memory, &Trial::verdict);
    if (wanting == 0) return text;
    return fmt::format(
        "{}; {} of them ran out of memory or their process was killed: the same command tries them again", text,
        wanting);
}

}  // namespace

/// A problem from next() on, until it has ended in whatever way.
class ClassSweep::Flight {
public:
    Flight(ClassSweep& sweep, SharedDevice& device, const Begun& problem)
        : sweep_(sweep), device_(device), problem_(problem) {}
    Flight(const Flight&) = delete;
    Flight& operator=(const Flight&) = delete;
    ~Flight() { sweep_.end(device_, problem_); }

private:
    ClassSweep& sweep_;
    SharedDevice& device_;
    Begun problem_;
};

ClassSweep::ClassSweep(SharedSweep& shared, const std::vector<MeasureService*>& devices)
    : shared_(shared), results_(shared.problems.size()) {
    for (MeasureService* device : devices) devices_.push_back(std::make_unique<SharedDevice>(*device));
    begin();
}

void ClassSweep::work(SharedDevice& device) {
    while (const std::optional<Begun> problem = next(device)) {
        const Flight flight(*this, device, *problem);
        keep(*problem, tune(device, *problem));
    }
}

void ClassSweep::finish() {
    const auto whole = [](const auto& result) {
        return result && result->stop == Stop::none && !result->wanted_memory;
    };
    if (!was_finished_ && std::ranges::all_of(results_, whole)) shared_.services.store.finish_sweep(id_);
    if (!shared_.services.on_problem) return;
    for (const std::size_t index : cut_) shared_.services.on_problem(*results_[index]);
}

void ClassSweep::add_to(SweepResult& all) {
    all.resumed = all.resumed || resumed_;
    all.was_finished = all.was_finished || was_finished_;
    for (const std::unique_ptr<SharedDevice>& device : devices_) all.measuring_seconds += device->busy_seconds();
    for (std::optional<TunedProblem>& result : results_)
        if (result) all.problems.push_back(std::move(*result));
}

// ---- which sweep this is --------------------------------------------------------------------------------------------

/// Goes on with the sweep that was asked the same, or begins one.
void ClassSweep::begin() {
    const SweepOptions& options = shared_.options;
    const DeviceFacts& facts = devices_.front()->facts();
    const SweepKey key{device_class(facts), sweep_request(shared_.problems, options), facts.versions};
    const std::optional<SweepRow> row = shared_.services.store.find_sweep(key);
    if (row && row->finished != 0 && options.resume_finished) {
        id_ = row->id;
        return report_finished();
    }
    if (row && row->finished == 0 && !options.restart && take_over(*row)) return;
    begin_new(key);
}

/// A process that was asked the same may take a sweep over before its beginner has locked it: then another is begun.
void ClassSweep::begin_new(const SweepKey& key) {
    constexpr int kAttempts = 5;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        id_ = shared_.services.store.begin_sweep(key);
        if (lock(id_)) return;
    }
    throw TuningStoreError(
        fmt::format("other processes keep taking over new sweeps of {}", shared_.services.store.path()));
}

/// Two processes never go on with one sweep. One that was killed a moment ago may not be quite gone. The lock lies
/// beside the store's own file, as hosts that share a folder count their sweeps each from 1. Where there are no locks,
/// the sweep goes on without.
bool ClassSweep::lock(std::int64_t id) {
    constexpr std::chrono::milliseconds kLockTimeout{300};
    std::error_code no_locks_here;
    std::optional<FileLock> taken = FileLock::acquire(
        fmt::format("{}.sweep-{}.lock", shared_.services.store.path(), id), kLockTimeout, no_locks_here);
    if (taken) lock_ = std::make_unique<FileLock>(std::move(*taken));
    return taken || no_locks_here;
}

/// Unless another process is at it this very moment.
bool ClassSweep::take_over(const SweepRow& row) {
    if (!lock(row.id)) return false;
    id_ = row.id;
    resumed_ = true;
    earlier_ = shared_.services.store.read_sweep(id_);
    return true;
}

void ClassSweep::report_finished() {
    was_finished_ = true;
    next_ = shared_.problems.size();
    shared_.begun += next_;
    for (ProblemRecord& record : shared_.services.store.read_sweep(id_)) {
        const auto asked = std::ranges::find(shared_.problems, record.spec, &TuneProblem::spec);
        if (asked == shared_.problems.end()) continue;
        const auto index = static_cast<std::size_t>(asked - shared_.problems.begin());
        TunedProblem result = blank(index);
        result.record = std::move(record);
        results_[index] = std::move(result);
    }
    for (std::size_t i = 0; i < results_.size(); ++i)
        if (!results_[i]) results_[i] = unserved(i, prepare(shared_.problems[i]).failure);
}

// ---- problem after problem ------------------------------------------------------------------------------------------

/// Waits for room on the device. Those that their share cut short go on behind all others, once.
std::optional<ClassSweep::Begun> ClassSweep::next(SharedDevice& device) {
    std::unique_lock lock(shared_.mutex);
    while (!shared_.services.interrupted()) {
        const bool again = next_ == shared_.problems.size();
        if (again && (cut_.empty() || !has_time())) break;
        if (device.admit(bytes_of(again ? cut_.front() : next_))) return begin_next(again);
        shared_.ended.wait_for(lock, kLookInterval);
    }
    return std::nullopt;
}

bool ClassSweep::has_time() const {
    return shared_.options.budget_seconds > 0 && shared_.elapsed() < shared_.options.budget_seconds;
}

/// Under the lock.
ClassSweep::Begun ClassSweep::begin_next(bool again) {
    const Clock::time_point now = Clock::now();
    const double left = shared_.options.budget_seconds - shared_.elapsed();
    const std::size_t waiting = again ? cut_.size() : shared_.asked - shared_.begun++;
    const double share = shared_.pace.share(now, left, static_cast<double>(waiting));
    const std::size_t index = again ? cut_.front() : next_++;
    if (again) cut_.pop_front();
    return {.index = index, .over = shared_.pace.begin(now, share), .again = again};
}

void ClassSweep::end(SharedDevice& device, const Begun& problem) {
    const std::lock_guard lock(shared_.mutex);
    shared_.pace.end(Clock::now(), problem.over);
    device.dismiss(bytes_of(problem.index));
    shared_.ended.notify_all();
}

void ClassSweep::keep(const Begun& problem, TunedProblem result) {
    const std::lock_guard lock(shared_.mutex);
    if (!problem.again) ++shared_.done;
    if (result.stop == Stop::budget && !problem.again && has_time())
        cut_.push_back(problem.index);
    else if (shared_.services.on_problem)
        shared_.services.on_problem(result);
    results_[problem.index] = std::move(result);
}

/// The problem's result before its search begins.
TunedProblem ClassSweep::so_far(const Begun& problem) const {
    if (!problem.again) return blank(problem.index);
    const std::lock_guard lock(shared_.mutex);
    return *results_[problem.index];
}

std::int64_t ClassSweep::bytes_of(std::size_t index) const {
    return bench_bytes(shared_.problems[index].spec, devices_.front()->facts().model);
}

ClassSweep::Prepared ClassSweep::prepare(const TuneProblem& problem) const {
    const SweepOptions& options = shared_.options;
    Prepared result;
    try {
        const Problem asked = problem_of(problem.spec);
        const GpuModel& gpu = devices_.front()->facts().model;
        result.space = search_space(asked, gpu, options.selection);
        for (const auto& [spec, kernel] : options.only)
            if (spec == problem.spec) add_kernel(result.space, asked, gpu, kernel);
        result.strategy = strategy_for(result.space, options);
    } catch (const ConfigError& error) {
        result.failure = error.what();
    }
    return result;
}

/// Budgets are shared out evenly among the problems left, so that the first ones don't use up all. The last ones have
/// what is left: nobody waits for it.
Stop ClassSweep::stop_at(double over) const {
    if (shared_.services.interrupted()) return Stop::interrupted;
    if (shared_.options.budget_seconds <= 0) return Stop::none;
    const std::lock_guard lock(shared_.mutex);
    const bool others_wait = shared_.begun < shared_.asked || !cut_.empty();
    const bool has_had_its_share = others_wait && shared_.pace.seconds(Clock::now()) >= over;
    return has_had_its_share || !has_time() ? Stop::budget : Stop::none;
}

std::vector<Trial> ClassSweep::earlier(const GemmSpec& spec) const {
    const auto known = std::ranges::find(earlier_, spec, &ProblemRecord::spec);
    return known == earlier_.end() ? std::vector<Trial>() : known->trials;
}

TunedProblem ClassSweep::blank(std::size_t index) const {
    TunedProblem result;
    result.index = index;
    result.record.spec = shared_.problems[index].spec;
    result.device_class = device_class(devices_.front()->facts());
    return result;
}

/// The result of a problem that no kernel serves. It is empty for other problems.
std::optional<TunedProblem> ClassSweep::unserved(std::size_t index, const std::string& why) const {
    if (why.empty()) return std::nullopt;
    TunedProblem result = blank(index);
    result.failure = why;
    result.unserved = true;
    return result;
}

TunedProblem ClassSweep::tune(SharedDevice& device, const Begun& begun) {
    const Clock::time_point start = Clock::now();
    const std::size_t index = begun.index;
    TunedProblem result = so_far(begun);
    result.stop = stop_at(begun.over);
    if (result.stop != Stop::none)
        return result;  // before its search space is made, which may take longer than a budget
    const Prepared now = prepare(shared_.problems[index]);
    if (std::optional<TunedProblem> none = unserved(index, now.failure)) return *std::move(none);
    search(device, begun, now, result);
    result.seconds += seconds_since(start);
    return result;
}

void ClassSweep::search(SharedDevice& device, const Begun& begun, const Prepared& now, TunedProblem& result) {
    const TuneProblem& problem = shared_.problems[begun.index];
    TrialLog log(shared_.services.store, id_, problem.spec, now.space.heuristic_kernel,
                 begun.again ? result.record.trials : earlier(problem.spec));
    ProblemTuner tuner(problem, now.space, *now.strategy, shared_.options.timing, log,
                       {.compiling = shared_.services.compiling,
                        .device = device,
                        .stop = [&] { return stop_at(begun.over); },
                        .on_progress = [&](const TrialLog& so_far) { show(begun.index, so_far); }});
    result.stop = tuner.run();
    result.wanted_memory = log.wanted_memory();
    result.record.winner = tuner.winner(result.stop == Stop::none && !result.wanted_memory);
    if (result.record.winner) result.record.winner->narrowed = narrowing_of(now.space, shared_.options);
    result.record.trials = log.trials();
    if (!log.cublaslt().samples.empty()) result.record.trials.push_back(log.cublaslt());
    result.new_samples += log.samples_added();
    if (result.record.winner)
        shared_.services.store.set_winner(id_, *result.record.winner);
    else if (result.stop == Stop::none)
        result.failure = no_winner(log);
}

// ---- for those who watch --------------------------------------------------------------------------------------------

std::optional<double> ClassSweep::remaining_seconds() const {
    if (shared_.done == 0) return std::nullopt;
    if (shared_.done == shared_.asked && has_time()) return shared_.options.budget_seconds - shared_.elapsed();
    return shared_.elapsed() / static_cast<double>(shared_.done) * static_cast<double>(shared_.asked - shared_.done);
}

/// The oldest in flight alone is shown: a line that jumped from problem to problem would tell nothing.
bool ClassSweep::is_shown(std::size_t index) const {
    if (!shared_.services.on_progress) return false;
    const std::lock_guard lock(shared_.mutex);
    return std::all_of(results_.begin(), results_.begin() + static_cast<std::ptrdiff_t>(index),
                       [](const auto& result) { return result.has_value(); });
}

void ClassSweep::show(std::size_t index, const TrialLog& log) const {
    if (!is_shown(index)) return;
    SweepProgress progress;
    progress.problem = index;
    progress.problems = shared_.asked;
    progress.waiting_compiles = shared_.services.compiling.waiting();
    progress.trials = static_cast<int>(log.trials().size());
    for (const Trial& trial : log.trials()) {
        progress.verified += trial.verified ? 1 : 0;
        if (trial.samples.empty()) continue;
        ++progress.timed;
        const double median = median_interval(trial.times_us()).median;
        if (progress.best_us != 0 && median >= progress.best_us) continue;
        progress.best_us = median;
        progress.best_kernel = trial.kernel;
    }
    const std::lock_guard lock(shared_.mutex);
    progress.problems_done = shared_.done;
    progress.elapsed_seconds = shared_.elapsed();
    progress.remaining_seconds = remaining_seconds();
    shared_.services.on_progress(progress);
}

}  // namespace jitgemm::tuning
