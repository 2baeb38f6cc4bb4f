#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/search/search.hpp"
#include "runtime/tuning/search/services.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kSemifinal = 7;  // rounds
constexpr std::size_t kFinal = 15;
constexpr std::size_t kExtra = 8;  // rounds more, while it is open whether finalists are equals ...
constexpr std::size_t kMost = 31;  // ... up to here
constexpr std::size_t kFinalists = 4;
constexpr std::size_t kSustained = 3;
constexpr double kPowerSwing = 0.05;  // that one protocol may show of two kernels beyond the other
constexpr std::size_t kEverybody = std::numeric_limits<std::size_t>::max();
constexpr double kTie = 0.005;  // of the best's median: with the noise on top, equals are within 1 % of each other

/// A kernel that was timed, and how.
struct RankedCandidate {
    std::string kernel;
    std::size_t rounds = 0;
    Interval time;
};

bool takes_part(const Trial& trial) {
    return trial.kernel != kCublasLt && trial.verified && trial.verdict() == Verdict::fine;
}

const Trial* find_trial(const std::vector<Trial>& trials, const std::string& kernel) {
    const auto found = std::ranges::find(trials, kernel, &Trial::kernel);
    return found == trials.end() ? nullptr : &*found;
}

/// The trials to rank, and the measure.
struct TimedTrials {
    const std::vector<Trial>& trials;
    Reference reference;      ///< by the name it ran under
    double reference_us = 0;  ///< 0: not timed, and times are compared as they are

    TimedTrials(const std::vector<Trial>& all, const Reference& given)
        : trials(all), reference(given), reference_us(tuning::reference_us(all, given.kernel)) {
        if (const Trial* const measured = find_measured(all, given.kernel)) reference.kernel = measured->kernel;
    }
    [[nodiscard]] bool is_reference(const Trial& trial) const { return trial.kernel == reference.kernel; }
    [[nodiscard]] bool competes(const Trial& trial) const { return reference.competes || !is_reference(trial); }
};

bool by_time(const RankedCandidate& left, const RankedCandidate& right) {
    return std::tie(left.time.median, left.kernel) < std::tie(right.time.median, right.kernel);
}

/// Candidates with at least `rounds` rounds (and one), fastest first, equals by name. Only their first `judged`
/// rounds count, so a promoted candidate stays promoted while its next rounds are measured.
std::vector<RankedCandidate> ranking(const TimedTrials& all, std::size_t rounds, std::size_t judged) {
    std::vector<RankedCandidate> field;
    for (const Trial& trial : all.trials) {
        std::vector<double> times = comparable_times(trial, all.reference_us);
        if (!takes_part(trial) || !all.competes(trial) || times.empty() || times.size() < rounds) continue;
        times.resize(std::min(times.size(), judged));
        field.push_back({trial.kernel, trial.samples.size(), median_interval(times)});
    }
    std::ranges::sort(field, by_time);
    return field;
}

bool is_clear_loser(const RankedCandidate& one, const RankedCandidate& best) { return one.time.low > best.time.high; }

bool ties(const RankedCandidate& one, const RankedCandidate& best) {
    return !is_clear_loser(one, best) && one.time.median <= best.time.median * (1 + kTie);
}

/// The candidates that continue after `rounds`: the better half, at most `most`, without clear losers. The
/// heuristic's own always continues.
std::vector<RankedCandidate> promoted(const TimedTrials& all, std::size_t rounds, std::size_t most) {
    std::vector<RankedCandidate> field = ranking(all, rounds, rounds);
    if (field.empty()) return field;
    const RankedCandidate best = field.front();
    const std::size_t places = std::min((field.size() + 1) / 2, most);
    std::vector<RankedCandidate> winners;
    for (std::size_t i = 0; i < field.size(); ++i)
        if ((i < places && !is_clear_loser(field[i], best)) || field[i].kernel == all.reference.kernel)
            winners.push_back(field[i]);
    return winners;
}

/// The plan that brings each kernel to `rounds` rounds. Nothing if all have them.
template <typename Kernels, typename RoundsOf>
std::optional<RoundPlan> plan_for(const Kernels& kernels, const RoundsOf& rounds_of, std::size_t rounds) {
    RoundPlan plan{.kernels = {}, .rounds = static_cast<int>(rounds)};
    for (const auto& one : kernels)
        if (rounds_of(one) < rounds) plan.kernels.push_back(one.kernel);
    return plan.kernels.empty() ? std::nullopt : std::optional(plan);
}

std::optional<RoundPlan> plan_for(const std::vector<RankedCandidate>& kernels, std::size_t rounds) {
    return plan_for(
        kernels, [](const RankedCandidate& one) { return one.rounds; }, rounds);
}

std::optional<RoundPlan> screening(const std::vector<Trial>& trials) {
    const auto rounds_of = [](const Trial& trial) { return takes_part(trial) ? trial.samples.size() : kEverybody; };
    return plan_for(trials, rounds_of, kScreening);
}

/// Whether some finalist would pass for the best's equal although it may be slower by more than a tie allows.
bool is_open(const std::vector<RankedCandidate>& finalists) {
    if (finalists.empty()) return false;
    const RankedCandidate& best = finalists.front();
    return std::any_of(finalists.begin() + 1, finalists.end(), [&](const RankedCandidate& one) {
        return ties(one, best) && one.time.high > best.time.low * (1 + kTie);
    });
}

/// Rounds that the finalists need beyond kFinal.
std::optional<RoundPlan> overtime(const TimedTrials& all, const std::vector<RankedCandidate>& finalists) {
    for (std::size_t rounds = kFinal + kExtra; rounds <= kMost; rounds += kExtra) {
        std::vector<RankedCandidate> theirs = ranking(all, 0, rounds - kExtra);
        std::erase_if(theirs, [&](const RankedCandidate& one) {
            return std::ranges::find(finalists, one.kernel, &RankedCandidate::kernel) == finalists.end();
        });
        if (!is_open(theirs)) return std::nullopt;
        if (auto plan = plan_for(finalists, rounds)) return plan;
    }
    return std::nullopt;
}

/// The fastest few that energy may decide between, and the heuristic's own: those that had a place in the steady rounds
/// or none. Only steady rounds count, so the set stays the same while other rounds are measured.
std::vector<RankedCandidate> close_behind(std::vector<Trial> trials, const Reference& reference) {
    for (Trial& trial : trials)
        std::erase_if(trial.samples, [](const Sample& sample) { return sample.sustained_us > 0; });
    const TimedTrials all(trials, reference);
    std::vector<RankedCandidate> field = ranking(all, kScreening, kEverybody);
    if (field.empty()) return field;
    const double limit_us = field.front().time.median * (1 + kPowerSwing);
    std::vector<RankedCandidate> close;
    for (const RankedCandidate& one : field)
        if ((close.size() < kFinalists && one.time.median <= limit_us) || one.kernel == all.reference.kernel)
            close.push_back(one);
    return close;
}

/// Those with sustained rounds, by both protocols; none unless they all have had them all.
std::vector<RankedCandidate> ranked_by_both(const TimedTrials& all) {
    const double reference_us = reference_sustained_us(all.trials, all.reference.kernel);
    std::vector<RankedCandidate> both;
    for (RankedCandidate one : ranking(all, 0, kEverybody)) {
        const Trial& trial = *find_trial(all.trials, one.kernel);
        if (count_sustained(trial) == 0) continue;
        const std::optional<double> factor = sustained_factor(trial, one.time.median, reference_us);
        if (!factor) return {};
        one.time = {one.time.median * *factor, one.time.low * *factor, one.time.high * *factor};
        both.push_back(std::move(one));
    }
    std::ranges::sort(both, by_time);
    return both;
}

/// Entries a launch has; more than any for a name of another version's kernel, so that it yields to those of this one.
std::size_t entries_of(const std::string& kernel) {
    try {
        const KernelId id = parse_kernel_name(kernel);
        return family_of(id.config).entries(id.signature, id.config).size();
    } catch (const ConfigError&) {
        return kEverybody;
    }
}

}  // namespace

const Trial* find_measured(const std::vector<Trial>& trials, const std::string& kernel) {
    const Trial* const own = find_trial(trials, kernel);
    return own == nullptr || own->same_as.empty() ? own : find_trial(trials, own->same_as);
}

double reference_us(const std::vector<Trial>& trials, const std::string& kernel) {
    const Trial* const reference = find_measured(trials, kernel);
    if (reference == nullptr || reference->samples.empty()) return 0;
    std::vector<double> times = reference->times_us();
    times.resize(std::min(times.size(), kScreening));
    return median_interval(times).median;
}

std::vector<double> comparable_times(const Trial& trial, double reference_us) {
    std::vector<double> times;
    times.reserve(trial.samples.size());
    for (const Sample& sample : trial.samples) {
        const bool is_paired = sample.reference_us > 0 && reference_us > 0;
        times.push_back(is_paired ? sample.us / sample.reference_us * reference_us : sample.us);
    }
    return times;
}

std::optional<RoundPlan> next_rounds(const std::vector<Trial>& trials, const Reference& reference,
                                     bool screening_only) {
    if (auto plan = screening(trials)) return plan;
    if (screening_only) return std::nullopt;
    const TimedTrials field(trials, reference);
    if (auto plan = plan_for(promoted(field, kScreening, kEverybody), kSemifinal)) return plan;
    const std::vector<RankedCandidate> finalists = promoted(field, kSemifinal, kFinalists);
    if (auto plan = plan_for(finalists, kFinal)) return plan;
    return overtime(field, finalists);
}

std::optional<RoundPlan> sustained_rounds(const std::vector<Trial>& trials, const Reference& reference) {
    const std::vector<RankedCandidate> finalists = close_behind(trials, reference);
    if (finalists.empty() || finalists.front().time.median < kPowerBoundUs) return std::nullopt;
    const auto rounds_of = [&](const RankedCandidate& one) {
        return static_cast<std::size_t>(count_sustained(*find_trial(trials, one.kernel)));
    };
    std::optional<RoundPlan> plan = plan_for(finalists, rounds_of, kSustained);
    if (plan) plan->sustained = true;
    return plan;
}

int count_sustained(const Trial& trial) {
    return static_cast<int>(
        std::ranges::count_if(trial.samples, [](const Sample& sample) { return sample.sustained_us > 0; }));
}

double reference_sustained_us(const std::vector<Trial>& trials, const std::string& kernel) {
    const Trial* const reference = find_measured(trials, kernel);
    std::vector<double> times;
    if (reference != nullptr)
        for (const Sample& sample : reference->samples)
            if (sample.sustained_us > 0) times.push_back(sample.sustained_us);
    return times.size() < kSustained ? 0 : median_interval(times).median;
}

std::optional<double> sustained_factor(const Trial& trial, double steady_us, double reference_sustained_us) {
    std::vector<double> times;
    for (const Sample& sample : trial.samples)
        if (sample.sustained_us > 0 && sample.reference_sustained_us > 0)
            times.push_back(sample.sustained_us / sample.reference_sustained_us * reference_sustained_us);
    if (times.size() < kSustained || steady_us <= 0 || reference_sustained_us <= 0) return std::nullopt;
    return std::sqrt(median_interval(times).median / steady_us);
}

std::optional<std::string> pick_winner(const std::vector<Trial>& trials, const Reference& reference) {
    const TimedTrials all(trials, reference);
    std::size_t most = 0;  // but for the reference, which has its turn in everybody's rounds
    for (const Trial& trial : trials)
        if (takes_part(trial) && !all.is_reference(trial)) most = std::max(most, trial.samples.size());
    std::vector<RankedCandidate> field = ranking(all, (most + 1) / 2, kEverybody);
    if (field.empty()) return std::nullopt;
    if (std::vector<RankedCandidate> both = ranked_by_both(all); !both.empty()) field = std::move(both);
    std::set<std::pair<std::size_t, std::string>> equals;
    for (const RankedCandidate& one : field)
        if (ties(one, field.front())) equals.emplace(entries_of(one.kernel), one.kernel);
    return equals.begin()->second;
}

}  // namespace jitgemm::tuning
