#include "runtime/tuning/report/tune_figures.hpp"

#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/search/search.hpp"
#include "runtime/tuning/search/services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kLongestReason = 160;
constexpr std::array kBinEnds{
    0.5, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, std::numeric_limits<double>::infinity()};

std::optional<double> quotient(double numerator, double denominator) {
    return numerator > 0 && denominator > 0 ? std::optional(numerator / denominator) : std::nullopt;
}

bool has_failed(const Trial& trial) {
    return trial.verdict() != Verdict::fine && trial.verdict() != Verdict::same_code;
}

/// Times are those of rounds at one clock, as far as a reference kernel tells.
std::vector<TimedCandidate> timed_candidates(const ProblemRecord& problem) {
    const double reference = problem.winner ? reference_us(problem.trials, problem.winner->heuristic_kernel) : 0;
    std::vector<TimedCandidate> timed;
    for (const Trial& trial : problem.trials)
        if (!trial.samples.empty() && !has_failed(trial) && trial.kernel != kCublasLt)
            timed.push_back(
                {trial.kernel, trial.predicted_us, median_interval(comparable_times(trial, reference)).median, 1});
    std::ranges::sort(timed, [](const TimedCandidate& left, const TimedCandidate& right) {
        return std::tie(left.us, left.kernel) < std::tie(right.us, right.kernel);
    });
    return timed;
}

/// 4 before 16, numbers before words.
bool comes_before(const std::string& left, const std::string& right) {
    const auto numbers = [](const std::string& text) {
        std::vector<long> found;
        for (const char* at = text.c_str(); *at != 0;) {
            char* end = nullptr;
            const long number = std::strtol(at, &end, 10);
            if (end == at) break;
            found.push_back(number);
            at = *end == 'x' ? end + 1 : end;
        }
        return found;
    };
    const auto of_left = numbers(left);
    const auto of_right = numbers(right);
    if (of_left.empty() != of_right.empty()) return of_right.empty();
    return std::tie(of_left, left) < std::tie(of_right, right);
}

/// Of one value of one parameter.
struct Sums {
    double log_best = 0;
    double log_median = 0;
    std::size_t problems = 0;
    std::size_t kernels = 0;
};
using ParameterKey = std::pair<std::string, std::string>;  // family, name
using ByValue = std::map<std::string, std::vector<double>>;

/// Nothing for a name of another version's kernel.
std::optional<KernelConfig> config_of(const std::string& kernel) {
    try {
        return parse_kernel_name(kernel).config;
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

/// A problem's relative times by parameter and value.
std::map<ParameterKey, ByValue> relative_times(const ProblemFigures& problem) {
    std::map<ParameterKey, ByValue> times;
    for (const TimedCandidate& candidate : problem.timed) {
        const std::optional<KernelConfig> config = config_of(candidate.kernel);
        if (!config) continue;
        const std::string family(family_name(*config));
        for (const auto& [name, value] : parameters_of(*config))
            times[{family, name}][value].push_back(candidate.relative);
    }
    return times;
}

ParameterEffect effect_of(const ParameterKey& key, const std::map<std::string, Sums>& by_value) {
    ParameterEffect effect{.family = key.first, .parameter = key.second, .values = {}};
    for (const auto& [value, sums] : by_value) {
        const auto n = static_cast<double>(sums.problems);
        effect.values.push_back(
            {value, std::exp(sums.log_best / n), std::exp(sums.log_median / n), sums.problems, sums.kernels});
    }
    std::ranges::sort(effect.values, comes_before, &ValueEffect::value);
    return effect;
}

std::string first_line(const std::string& message) {
    std::string line = message.substr(0, message.find('\n'));
    if (line.size() <= kLongestReason) return line;
    std::size_t end = kLongestReason;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;  // no half character
    return line.substr(0, end) + "…";
}

/// Of a problem without a time: what most of its candidates failed of.
std::string why_untimed(const ProblemRecord& problem) {
    if (problem.trials.empty()) return "no candidate was tried: none serves it, or the budget ended before its turn";
    std::map<std::string, std::size_t> reasons;
    for (const Trial& trial : problem.trials)
        if (has_failed(trial))
            ++reasons[fmt::format("{}: {}", to_string(trial.verdict()), first_line(trial.message()))];
    if (reasons.empty()) return "the sweep ended before a candidate was timed";
    const auto most = std::ranges::max_element(reasons, {}, [](const auto& reason) { return reason.second; });
    return fmt::format("{} of {} candidates failed, {} alike: {}", std::ranges::count_if(problem.trials, has_failed),
                       problem.trials.size(), most->second, most->first);
}

/// Without NVML, and at the end of a round that was cut short, there is none.
bool was_taken(const DeviceReading& reading) { return reading != DeviceReading{}; }

}  // namespace

std::optional<double> ProblemFigures::over_heuristic() const { return quotient(heuristic_us, best_us); }
std::optional<double> ProblemFigures::over_cublaslt() const { return quotient(cublaslt_us, best_us); }

ProblemFigures figures_of(const ProblemRecord& problem) {
    ProblemFigures figures;
    figures.spec = problem.spec;
    figures.tried = problem.trials.size();
    figures.failed = static_cast<std::size_t>(std::ranges::count_if(problem.trials, has_failed));
    figures.timed = timed_candidates(problem);
    if (!figures.timed.empty()) {
        figures.kernel = figures.timed.front().kernel;
        figures.best_us = figures.timed.front().us;
    }
    if (problem.winner) {
        figures.kernel = problem.winner->kernel;
        figures.best_us = problem.winner->median_us;
        figures.heuristic_us = problem.winner->heuristic_us;
        figures.cublaslt_us = problem.winner->cublaslt_us;
        figures.complete = problem.winner->complete;
    }
    for (TimedCandidate& candidate : figures.timed) candidate.relative = candidate.us / figures.timed.front().us;
    if (figures.best_us == 0) figures.untimed_reason = why_untimed(problem);
    return figures;
}

std::vector<SpeedupBin> speedup_bins(const std::vector<ProblemFigures>& problems, Speedup speedup) {
    std::vector<SpeedupBin> bins;
    double least = 0;
    for (const double most : kBinEnds) {
        bins.push_back({least, most, 0});
        least = most;
    }
    for (const ProblemFigures& problem : problems)
        if (const auto value = (problem.*speedup)())
            ++std::ranges::find_if(bins, [&](const SpeedupBin& bin) { return *value < bin.most; })->problems;
    const auto is_empty = [](const SpeedupBin& bin) { return bin.problems == 0; };
    while (!bins.empty() && is_empty(bins.back())) bins.pop_back();
    bins.erase(bins.begin(), std::ranges::find_if_not(bins, is_empty));
    return bins;
}

std::vector<ProblemFigures> worst(const std::vector<ProblemFigures>& problems, Speedup speedup, std::size_t count) {
    std::vector<ProblemFigures> slowest;
    for (const ProblemFigures& problem : problems)
        if ((problem.*speedup)()) slowest.push_back(problem);
    std::ranges::sort(slowest, {}, [&](const ProblemFigures& problem) {
        return std::pair(*(problem.*speedup)(), to_string(problem.spec));
    });
    if (slowest.size() > count) slowest.resize(count);
    return slowest;
}

double ParameterEffect::importance() const {
    const auto [least, most] = std::ranges::minmax(values, {}, &ValueEffect::best);
    return most.best / least.best;
}

std::vector<ParameterEffect> parameter_effects(const std::vector<ProblemFigures>& problems) {
    std::map<ParameterKey, std::map<std::string, Sums>> sums;
    for (const ProblemFigures& problem : problems) {
        for (const auto& [key, by_value] : relative_times(problem)) {
            for (const auto& [value, times] : by_value) {
                Sums& sum = sums[key][value];
                sum.log_best += std::log(std::ranges::min(times));
                sum.log_median += std::log(median_interval(times).median);
                ++sum.problems;
                sum.kernels += times.size();
            }
        }
    }
    std::vector<ParameterEffect> effects;
    for (const auto& [key, by_value] : sums)
        if (by_value.size() > 1) effects.push_back(effect_of(key, by_value));
    std::ranges::sort(effects, {}, [](const ParameterEffect& effect) {
        return std::tuple(-effect.importance(), effect.family, effect.parameter);
    });
    return effects;
}

std::vector<FailureGroup> failure_groups(const std::vector<ProblemRecord>& problems) {
    std::map<std::pair<Verdict, std::string>, FailureGroup> groups;
    for (const ProblemRecord& problem : problems) {
        for (const Trial& trial : problem.trials) {
            if (!has_failed(trial)) continue;
            const std::string reason = first_line(trial.message());
            FailureGroup& group = groups[{trial.verdict(), reason}];
            if (group.count++ == 0) group = {trial.verdict(), reason, 1, trial.kernel};
        }
    }
    std::vector<FailureGroup> sorted;
    for (const auto& [key, group] : groups) sorted.push_back(group);
    std::ranges::sort(sorted, [](const FailureGroup& left, const FailureGroup& right) {
        return std::tie(right.count, left.verdict, left.reason) < std::tie(left.count, right.verdict, right.reason);
    });
    return sorted;
}

std::vector<DeviceReading> reading_sequence(const std::vector<ProblemRecord>& problems) {
    std::vector<DeviceReading> sequence;
    for (const ProblemRecord& problem : problems) {
        std::vector<const Sample*> samples;
        for (const Trial& trial : problem.trials)
            for (const Sample& sample : trial.samples) samples.push_back(&sample);
        std::ranges::sort(samples, {}, [](const Sample* sample) { return std::pair(sample->round, sample->us); });
        for (const Sample* sample : samples)
            if (was_taken(sample->after) && (sequence.empty() || sequence.back() != sample->after))
                sequence.push_back(sample->after);
    }
    return sequence;
}

}  // namespace jitgemm::tuning
