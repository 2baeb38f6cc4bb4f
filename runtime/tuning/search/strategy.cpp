#include "generator/text/nearest_name.hpp"
#include "runtime/tuning/search/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace jitgemm::tuning {
namespace {

/// In the order of the enumeration.
constexpr std::array<std::string_view, 2> kStrategies{"exhaustive", "model"};

// Of spread_choice: how much slower a candidate seems for each one chosen so near.
constexpr double kCrowding = 0.03;
constexpr int kNear = 2;  // steps

/// By the screening alone: what the finals add, or end, was not known when the next step was chosen.
std::optional<double> screened_time(const Trial& trial, double reference_us) {
    const bool is_screened = trial.samples.size() >= kScreening;
    if (!is_screened && (trial.samples.empty() || trial.verdict() != Verdict::fine)) return std::nullopt;
    std::vector<double> times = comparable_times(trial, reference_us);
    times.resize(std::min(times.size(), kScreening));
    return median_interval(times).median;
}

// ---- everything -----------------------------------------------------------------------------------------------------

constexpr std::size_t kBatchSize = 32;  // enough to keep every compiling core busy while others are timed

/// Everything, in predicted order.
class Exhaustive : public Strategy {
public:
    Exhaustive(const SearchSpace& space, const SearchLimits& limits)
        : space_(space),
          limit_(limits.max_candidates > 0 ? static_cast<std::size_t>(limits.max_candidates) : space_.size()) {}

    [[nodiscard]] std::vector<std::string> propose(const std::vector<Trial>& known) const override {
        const Progress progress = space_.progress(known);
        std::vector<std::size_t> batch;
        for (std::size_t i = 0; i < space_.size(); ++i) {
            if (batch.size() == kBatchSize || progress.tries + batch.size() >= limit_) break;
            if (!progress.tried[i]) batch.push_back(i);
        }
        return space_.names(batch);
    }

private:
    IndexedSpace space_;
    std::size_t limit_;
};

}  // namespace

std::string_view to_string(StrategyKind kind) { return kStrategies.at(static_cast<std::size_t>(kind)); }

StrategyKind parse_strategy(std::string_view text) {
    return static_cast<StrategyKind>(position_of("strategy", text, kStrategies));
}

std::size_t own_limit(StrategyKind kind, std::size_t candidates) {
    return kind == StrategyKind::exhaustive ? candidates : std::min(kDefaultLimit, candidates);
}

std::unique_ptr<Strategy> make_strategy(StrategyKind kind, const SearchSpace& space, const SearchLimits& limits) {
    if (kind == StrategyKind::model) return make_model(space, limits);
    return std::make_unique<Exhaustive>(space, limits);
}

// ---- what strategies share ------------------------------------------------------------------------------------------

bool Progress::failed(std::size_t candidate) const { return finished[candidate] && !time[candidate]; }

std::vector<std::size_t> Progress::fastest_first() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < time.size(); ++i)
        if (time[i]) order.push_back(i);
    std::ranges::sort(order, {}, [&](std::size_t candidate) { return std::pair(*time[candidate], candidate); });
    return order;
}

IndexedSpace::IndexedSpace(const SearchSpace& space)
    : heuristic_kernel_(space.heuristic_kernel), kernels_(space.kernels), grid_(space.candidates) {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
        index_.emplace(kernels_[i], i);
        predicted_.push_back(space.candidates[i].cost.total_us);
    }
}

Progress IndexedSpace::progress(const std::vector<Trial>& known) const {
    Progress progress{.tried = std::vector<bool>(size()),
                      .time = std::vector<std::optional<double>>(size()),
                      .finished = std::vector<bool>(size()),
                      .tries = 0};
    const double reference = reference_us(known, heuristic_kernel_);
    for (const Trial& trial : known) {
        const auto found = index_.find(trial.kernel);
        if (found == index_.end()) continue;
        const std::size_t candidate = found->second;
        const Trial* measured = find_measured(known, trial.kernel);
        progress.tried[candidate] = true;
        ++progress.tries;
        if (measured == nullptr) continue;
        progress.time[candidate] = screened_time(*measured, reference);
        progress.finished[candidate] = progress.time[candidate] || measured->verdict() != Verdict::fine;
    }
    return progress;
}

std::vector<std::string> IndexedSpace::names(const std::vector<std::size_t>& candidates) const {
    std::vector<std::string> names;
    for (const std::size_t candidate : candidates) names.push_back(kernels_[candidate]);
    return names;
}

std::vector<std::size_t> spread_choice(const IndexedSpace& space, const std::vector<bool>& taken, std::size_t count) {
    std::vector<bool> gone = taken;
    std::vector<int> crowd(space.size());
    const auto add_to_crowd = [&](std::size_t chosen) {
        for (std::size_t i = 0; i < space.size(); ++i)
            if (space.grid().distance(i, chosen) <= kNear) ++crowd[i];
    };
    for (std::size_t i = 0; i < space.size(); ++i)
        if (taken[i]) add_to_crowd(i);
    std::vector<std::size_t> chosen;
    while (chosen.size() < count) {
        std::size_t best = space.size();
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < space.size(); ++i) {
            const double seeming = space.predicted(i) * std::pow(1 + kCrowding, crowd[i]);
            if (!gone[i] && seeming < least) best = i, least = seeming;
        }
        if (best == space.size()) break;
        chosen.push_back(best);
        gone[best] = true;
        add_to_crowd(best);
    }
    return chosen;
}

}  // namespace jitgemm::tuning
