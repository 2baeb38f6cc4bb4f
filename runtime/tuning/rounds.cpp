#include "generator/error.hpp"
#include "generator/families/family.hpp"
#include "runtime/tuning/search.hpp"
#include "runtime/tuning/services.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kScreening = 3;  // rounds: the fewest whose median shrugs off a disturbed one
constexpr std::size_t kSemifinal = 7;
constexpr std::size_t kFinal = 15;
constexpr std::size_t kExtra = 8;  // rounds more, while it is open whether finalists are equals ...
constexpr std::size_t kMost = 31;  // ... up to here
constexpr std::size_t kFinalists = 4;
constexpr std::size_t kEverybody = std::numeric_limits<std::size_t>::max();
constexpr double kTie = 0.005;  // of the best's median: with the noise on top, equals are within 1 % of each other

/// A kernel that was timed, and how.
struct Contestant {
    std::string kernel;
    std::size_t rounds = 0;
    Interval time;
};

bool takes_part(const Trial& trial) {
    return trial.kernel != kCublasLt && trial.verified && trial.verdict() == Verdict::fine;
}

/// Those of at least so many rounds (and one), fastest first, equals by name. Judged by their first `judged` rounds alone, so
/// that who is promoted stays promoted while his next rounds come in.
std::vector<Contestant> ranking(const std::vector<Trial>& trials, std::size_t rounds, std::size_t judged) {
    std::vector<Contestant> field;
    for (const Trial& trial : trials) {
        std::vector<double> times = trial.times_us();
        if (!takes_part(trial) || times.empty() || times.size() < rounds) continue;
        times.resize(std::min(times.size(), judged));
        field.push_back({trial.kernel, trial.samples.size(), median_interval(times)});
    }
    std::ranges::sort(field, [](const Contestant& left, const Contestant& right) {
        return std::tie(left.time.median, left.kernel) < std::tie(right.time.median, right.kernel);
    });
    return field;
}

bool is_clear_loser(const Contestant& one, const Contestant& best) { return one.time.low > best.time.high; }

bool ties(const Contestant& one, const Contestant& best) {
    return !is_clear_loser(one, best) && one.time.median <= best.time.median * (1 + kTie);
}

/// Who goes on after `rounds`: the better half of those that had them, at most `most`, no clear losers; and the heuristic's own.
std::vector<Contestant> promoted(const std::vector<Trial>& trials, const std::string& heuristic_kernel,
                                 std::size_t rounds, std::size_t most) {
    std::vector<Contestant> field = ranking(trials, rounds, rounds);
    if (field.empty()) return field;
    const Contestant best = field.front();
    const std::size_t places = std::min((field.size() + 1) / 2, most);
    std::vector<Contestant> winners;
    for (std::size_t i = 0; i < field.size(); ++i)
        if ((i < places && !is_clear_loser(field[i], best)) || field[i].kernel == heuristic_kernel)
            winners.push_back(field[i]);
    return winners;
}

/// The plan that gives each of them so many rounds; nothing when they have them.
template <typename Kernels, typename RoundsOf>
std::optional<RoundPlan> plan_for(const Kernels& kernels, const RoundsOf& rounds_of, std::size_t rounds) {
    RoundPlan plan{.kernels = {}, .rounds = static_cast<int>(rounds)};
    for (const auto& one : kernels)
        if (rounds_of(one) < rounds) plan.kernels.push_back(one.kernel);
    return plan.kernels.empty() ? std::nullopt : std::optional(plan);
}

std::optional<RoundPlan> plan_for(const std::vector<Contestant>& kernels, std::size_t rounds) {
    return plan_for(
        kernels, [](const Contestant& one) { return one.rounds; }, rounds);
}

std::optional<RoundPlan> screening(const std::vector<Trial>& trials) {
    const auto rounds_of = [](const Trial& trial) { return takes_part(trial) ? trial.samples.size() : kEverybody; };
    return plan_for(trials, rounds_of, kScreening);
}

/// Whether some finalist would pass for the best's equal although it may be slower by more than a tie allows.
bool is_open(const std::vector<Contestant>& finalists) {
    if (finalists.empty()) return false;
    const Contestant& best = finalists.front();
    return std::any_of(finalists.begin() + 1, finalists.end(), [&](const Contestant& one) {
        return ties(one, best) && one.time.high > best.time.low * (1 + kTie);
    });
}

/// Rounds that the finalists need beyond kFinal.
std::optional<RoundPlan> overtime(const std::vector<Trial>& trials, const std::vector<Contestant>& finalists) {
    std::vector<Trial> theirs;
    for (const Trial& trial : trials)
        if (std::ranges::find(finalists, trial.kernel, &Contestant::kernel) != finalists.end()) theirs.push_back(trial);
    for (std::size_t rounds = kFinal + kExtra; rounds <= kMost; rounds += kExtra) {
        if (!is_open(ranking(theirs, 0, rounds - kExtra))) return std::nullopt;
        if (auto plan = plan_for(finalists, rounds)) return plan;
    }
    return std::nullopt;
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

std::optional<RoundPlan> next_rounds(const std::vector<Trial>& trials, const std::string& heuristic_kernel,
                                     bool screening_only) {
    if (auto plan = screening(trials)) return plan;
    if (screening_only) return std::nullopt;
    // The heuristic's kernel may have run under the name of its twin.
    const auto own = std::ranges::find(trials, heuristic_kernel, &Trial::kernel);
    const std::string heuristic = own == trials.end() || own->same_as.empty() ? heuristic_kernel : own->same_as;

    if (auto plan = plan_for(promoted(trials, heuristic, kScreening, kEverybody), kSemifinal)) return plan;
    const std::vector<Contestant> finalists = promoted(trials, heuristic, kSemifinal, kFinalists);
    if (auto plan = plan_for(finalists, kFinal)) return plan;
    return overtime(trials, finalists);
}

std::optional<std::string> pick_winner(const std::vector<Trial>& trials) {
    std::size_t most = 0;
    for (const Trial& trial : trials)
        if (takes_part(trial)) most = std::max(most, trial.samples.size());
    const std::vector<Contestant> field = ranking(trials, (most + 1) / 2, kEverybody);
    if (field.empty()) return std::nullopt;
    std::set<std::pair<std::size_t, std::string>> equals;
    for (const Contestant& one : field)
        if (ties(one, field.front())) equals.emplace(entries_of(one.kernel), one.kernel);
    return equals.begin()->second;
}

}  // namespace jitgemm::tuning
