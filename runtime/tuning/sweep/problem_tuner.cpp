#include "runtime/tuning/sweep/problem_tuner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

namespace jitgemm::tuning {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kEarlyKernels = 8;  // of the first batch, which are timed while the rest compiles
constexpr int kPeerRounds = 15;           // from such a plan on, cuBLASLt is timed as well

CompileJob compile_job(const SearchSpace& space, const std::string& kernel, const DeviceFacts& facts) {
    return {.spec = space.spec, .kernel = kernel, .arch = std::string(facts.model.arch->name), .ptx = facts.emulator};
}

/// A short budget may end while the first batch compiles. So the heuristic's kernel, which leads the batch, is timed
/// alone at first, then a few others, then the rest.
std::vector<std::vector<std::string>> in_parts(const std::vector<std::string>& batch, bool is_first) {
    if (!is_first) return {batch};
    std::vector<std::vector<std::string>> parts(1);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i == 1 || i == kEarlyKernels) parts.emplace_back();
        parts.back().push_back(batch[i]);
    }
    return parts;
}

bool needs_binary(const Trial& trial) { return trial.verdict() == Verdict::fine; }

bool needs_verification(const Trial& trial) { return trial.compile && needs_binary(trial) && !trial.verified; }

Reference reference_of(const SearchSpace& space) {
    const bool competes = std::ranges::find(space.kernels, space.heuristic_kernel) != space.kernels.end();
    return {.kernel = space.heuristic_kernel, .competes = competes};
}

bool may_be_timed(const Trial& trial) {
    return trial.same_as.empty() && trial.verified && trial.verdict() == Verdict::fine;
}

}  // namespace

ProblemTuner::ProblemTuner(const TuneProblem& problem, const SearchSpace& space, const Strategy& strategy,
                           const TuneTiming& timing, TrialLog& log, Services services)
    : problem_(problem),
      space_(space),
      strategy_(strategy),
      timing_(timing),
      log_(log),
      services_(std::move(services)),
      reference_(reference_of(space)) {
    for (std::size_t i = 0; i < space.kernels.size(); ++i)
        predicted_us_.emplace(space.kernels[i], space.candidates[i].cost.total_us);
    predicted_us_.emplace(space.heuristic_kernel, space.heuristic_predicted_us);
}

Stop ProblemTuner::run() {
    while (!stopped()) {
        const bool is_first = log_.trials().empty();
        std::vector<std::string> batch = strategy_.propose(log_.trials());
        lead_with_heuristic(batch);
        if (batch.empty()) break;
        propose(batch);
        for (const std::vector<std::string>& part : in_parts(batch, is_first)) {
            verify_all(part);
            time_rounds(true);
        }
    }
    time_rounds(false);
    complete_peer();
    time_sustained();
    log_.flush();
    return stop_;
}

/// All kernels are compared with the heuristic's. So it is in the first batch, even if the strategy didn't propose it.
void ProblemTuner::lead_with_heuristic(std::vector<std::string>& batch) const {
    if (log_.knows(space_.heuristic_kernel)) return;
    std::erase(batch, space_.heuristic_kernel);
    batch.insert(batch.begin(), space_.heuristic_kernel);
}

bool ProblemTuner::stopped() {
    if (stop_ == Stop::none) stop_ = services_.stop();
    return stop_ != Stop::none;
}

/// The device for a job or a few; false when stopped.
bool ProblemTuner::lend(const std::function<void(MeasureService&)>& use) {
    return services_.device.lend([this] { return stopped(); }, use);
}

// ---- compile and verify ---------------------------------------------------------------------------------------------

/// All compiles of the batch are enqueued at once.
void ProblemTuner::propose(const std::vector<std::string>& batch) {
    for (const std::string& kernel : batch) {
        log_.propose(kernel, predicted_us_.at(kernel));
        if (needs_binary(log_.trial(kernel))) static_cast<void>(compiled(kernel));
    }
}

/// Each time the device is free, it verifies as many as are compiled by then.
void ProblemTuner::verify_all(const std::vector<std::string>& kernels) {
    for (std::size_t next = 0; next < kernels.size() && wait_for_compile(kernels[next]);) {
        if (needs_verification(log_.trial(kernels[next])))
            lend([&](MeasureService& device) { next = verify_compiled(kernels, next, device); });
        else
            ++next;
        services_.on_progress(log_);
    }
}

std::shared_future<CompileOutcome> ProblemTuner::compiled(const std::string& kernel) {
    return services_.compiling.compile(compile_job(space_, kernel, services_.device.facts()));
}

/// False when stopped.
bool ProblemTuner::wait_for_compile(const std::string& kernel) {
    while (!stopped())
        if (is_compiled(kernel, kLookInterval)) return true;
    return false;
}

/// A kernel of an earlier session is compiled again if its binary is needed, but it isn't recorded again.
bool ProblemTuner::is_compiled(const std::string& kernel, std::chrono::milliseconds patience) {
    if (!needs_binary(log_.trial(kernel))) return true;
    const auto outcome = compiled(kernel);
    if (outcome.wait_for(patience) != std::future_status::ready) return false;
    if (!log_.trial(kernel).compile) log_.add_compile(kernel, outcome.get());
    settle_code(kernel);
    return true;
}

void ProblemTuner::settle_code(const std::string& kernel) {
    const Trial& trial = log_.trial(kernel);
    if (!needs_verification(trial)) return;
    const std::string twin = log_.kernel_with_code(trial.compile->text_hash);
    const bool can_win = reference_.competes || twin != space_.heuristic_kernel;  // under its twin's name
    if (!twin.empty() && twin != kernel && can_win) log_.add_same_code(kernel, twin);
}

/// Kernel `next`, and those behind it up to one that is not compiled yet; returns where it ended.
std::size_t ProblemTuner::verify_compiled(const std::vector<std::string>& batch, std::size_t next,
                                          MeasureService& device) {
    do {
        verify(batch[next], device);
        services_.on_progress(log_);
        ++next;
    } while (next < batch.size() && !stopped() && is_compiled(batch[next], 0ms));
    return next;
}

void ProblemTuner::verify(const std::string& kernel, MeasureService& device) {
    if (!needs_verification(log_.trial(kernel))) return;
    const VerifyJob job{.spec = space_.spec, .kernel = kernel, .alpha = problem_.alpha, .beta = problem_.beta};
    VerifyOutcome outcome = device.verify(job);
    if (deserves_another_try(kernel, outcome.verdict)) outcome = device.verify(job);
    log_.add_verified(kernel, outcome);
}

/// A want of memory, or a child that was killed, is no kernel's fault. Each kernel is tried once more after its first.
bool ProblemTuner::deserves_another_try(const std::string& kernel, Verdict verdict) {
    return verdict == Verdict::no_memory && wanted_memory_.insert(kernel).second;
}

// ---- time -----------------------------------------------------------------------------------------------------------

void ProblemTuner::time_rounds(bool screening_only) {
    while (!stopped()) {
        const std::optional<RoundPlan> plan = next_rounds(log_.trials(), reference_, screening_only);
        if (!plan) return;
        time_plan(*plan);
    }
}

/// The finals of what power may decide, by the other protocol as well.
void ProblemTuner::time_sustained() {
    const bool is_steady = timing_.protocol == Protocol::steady && !timing_.hot;
    if (!is_steady || services_.device.facts().emulator || stopped()) return;
    if (const std::optional<RoundPlan> plan = sustained_rounds(log_.trials(), reference_)) time_plan(*plan);
}

/// Rounds a kernel still lacks of the plan; 0 for one that cannot be timed.
int ProblemTuner::lacks(const std::string& kernel, const RoundPlan& plan) const {
    const Trial& trial = trial_of(kernel);
    const bool sound = kernel == kCublasLt ? !trial.verified : may_be_timed(trial);
    const int had = plan.sustained ? count_sustained(trial) : static_cast<int>(trial.samples.size());
    return sound ? std::max(0, plan.rounds - had) : 0;
}

/// After an interruption kernels may lack different numbers of rounds. All that lack some continue together.
void ProblemTuner::time_plan(const RoundPlan& plan) {
    std::vector<std::string> kernels = plan.kernels;
    // cuBLASLt takes part where the winner is decided: the same rounds for all three figures of the result.
    if ((plan.sustained || plan.rounds >= kPeerRounds) && timing_.against_cublaslt &&
        !services_.device.facts().emulator)
        kernels.emplace_back(kCublasLt);
    const auto done = [&](const std::string& kernel) { return lacks(kernel, plan) == 0; };
    while (!stopped()) {
        std::erase_if(kernels, done);
        if (kernels.empty()) return;
        int rounds = plan.rounds;
        for (const std::string& kernel : kernels) rounds = std::min(rounds, lacks(kernel, plan));
        time_once(time_job(with_reference(kernels), rounds, plan.sustained));
    }
}

/// The heuristic's kernel has its turn in every round, whatever it has had before (Reference).
std::vector<std::string> ProblemTuner::with_reference(std::vector<std::string> kernels) const {
    const std::string& reference = space_.heuristic_kernel;
    const bool can_be_timed = log_.knows(reference) && may_be_timed(log_.trial(reference));
    if (can_be_timed && std::ranges::find(kernels, reference) == kernels.end())
        kernels.insert(kernels.begin(), reference);
    return kernels;
}

/// An interruption of the finals may have left cuBLASLt a turn short that no finalist needs any more.
void ProblemTuner::complete_peer() {
    int most = 0;
    for (const Trial& trial : log_.trials()) {
        const int rounds = static_cast<int>(trial.samples.size());
        // The heuristic's own are everybody's rounds; alone in the finals it had those from which cuBLASLt is timed.
        most = std::max(most, trial.kernel == space_.heuristic_kernel ? std::min(rounds, kPeerRounds) : rounds);
    }
    time_plan({.kernels = {}, .rounds = most});
}

TimeJob ProblemTuner::time_job(const std::vector<std::string>& kernels, int rounds, bool sustained) const {
    TimeJob job{.spec = space_.spec,
                .kernels = kernels,
                .rounds = rounds,
                .protocol = timing_.protocol,
                .sustained = sustained,
                .hot = timing_.hot,
                .seed = problem_.seed,
                .alpha = problem_.alpha,
                .beta = problem_.beta,
                .group_sizes = problem_.group_sizes};
    for (const std::string& kernel : kernels)
        job.first_rounds.push_back(static_cast<int>(trial_of(kernel).samples.size()));
    return job;
}

void ProblemTuner::time_once(const TimeJob& job) {
    const TimingEvents events{
        .on_sample = [&](const TimedSample& timed) { log_.add_sample(job.kernels.at(timed.kernel), timed.sample); },
        .on_round_end =
            [&](const RoundEnd& end) {
                log_.end_round(end);
                services_.on_progress(log_);
            },
        .stopped = [this] { return stopped(); }};
    TimeOutcome outcome;
    if (!lend([&](MeasureService& device) { outcome = device.time(job, events); })) return;
    log_.cut_round();
    const std::string& culprit = job.kernels.at(outcome.culprit);
    if (outcome.verdict == Verdict::fine || deserves_another_try(culprit, outcome.verdict)) return;
    log_.add_verified(culprit, {outcome.verdict, outcome.message});
    services_.on_progress(log_);
}

const Trial& ProblemTuner::trial_of(const std::string& kernel) const {
    return kernel == kCublasLt ? log_.cublaslt() : log_.trial(kernel);
}

/// The median of a kernel, or of the twin that was measured in its place; 0 where there is none.
double ProblemTuner::median_us(const std::string& kernel) const {
    if (kernel != kCublasLt && !log_.knows(kernel)) return 0;
    const Trial& trial = trial_of(kernel);
    if (!trial.same_as.empty()) return median_us(trial.same_as);
    return trial.samples.empty() ? 0 : median_interval(trial.times_us()).median;
}

std::optional<Winner> ProblemTuner::winner(bool complete) const {
    const std::optional<std::string> best = pick_winner(log_.trials(), reference_);
    if (!best) return std::nullopt;
    const DeviceFacts& facts = services_.device.facts();
    const double heuristic_us = reference_us_beside(log_.trial(*best));
    const Interval interval = winning_time(log_.trial(*best), heuristic_us);
    Winner winner{.device_class = device_class(facts),
                  .spec = space_.spec,
                  .kernel = *best,
                  .median_us = interval.median,
                  .low_us = interval.low,
                  .high_us = interval.high,
                  .heuristic_kernel = space_.heuristic_kernel,
                  .heuristic_us = heuristic_us,
                  .cublaslt_us = cublaslt_us(heuristic_us),
                  .protocol = timing_.protocol,
                  .hot = timing_.hot,
                  .complete = complete,
                  .versions = facts.versions,
                  .device_name = facts.model.name,
                  .unix_time = std::time(nullptr)};
    take_both_protocols(winner);
    winner.candidates_timed = static_cast<int>(std::ranges::count_if(log_.trials(), [&](const Trial& trial) {
        return !trial.samples.empty() && (reference_.competes || trial.kernel != space_.heuristic_kernel);
    }));
    return winner;
}

/// Times of a problem that was timed by both protocols are their geometric means, all of them or none.
void ProblemTuner::take_both_protocols(Winner& winner) const {
    const double reference_us = reference_sustained_us(log_.trials(), space_.heuristic_kernel);
    const std::optional<double> own = sustained_factor(log_.trial(winner.kernel), winner.median_us, reference_us);
    const std::optional<double> peer = sustained_factor(log_.cublaslt(), winner.cublaslt_us, reference_us);
    if (!own || (winner.cublaslt_us > 0 && !peer)) return;
    for (double* const us : {&winner.median_us, &winner.low_us, &winner.high_us}) *us *= *own;
    winner.heuristic_us = std::sqrt(winner.heuristic_us * reference_us);
    winner.cublaslt_us *= peer.value_or(1.0);
}

/// The time of the heuristic's kernel in the winner's rounds. Without these rounds, it is the kernel's own median.
double ProblemTuner::reference_us_beside(const Trial& winner) const {
    std::vector<double> times;
    for (const Sample& sample : winner.samples)
        if (sample.reference_us > 0) times.push_back(sample.reference_us);
    return times.empty() ? median_us(space_.heuristic_kernel) : median_interval(times).median;
}

/// Round by round beside the heuristic's kernel, so that the clock moves neither the ratio nor the interval.
Interval ProblemTuner::winning_time(const Trial& winner, double reference_us) const {
    const bool is_reference = winner.kernel == space_.heuristic_kernel;
    return median_interval(is_reference ? winner.times_us() : comparable_times(winner, reference_us));
}

/// 0 where it was not measured.
double ProblemTuner::cublaslt_us(double reference_us) const {
    const std::vector<double> times = comparable_times(log_.cublaslt(), reference_us);
    return times.empty() ? 0 : median_interval(times).median;
}

}  // namespace jitgemm::tuning
