#include "runtime/tuning/search/error_model.hpp"
#include "runtime/tuning/search/strategies.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kFirst = 32;        // timed before anything is learnt
constexpr std::size_t kBatch = 8;         // of each later step
constexpr std::size_t kLeaders = 3;       // whose neighbours are preferred
constexpr double kPreference = 2;         // as if they promised so much more
constexpr double kWorthATrial = 0.00003;  // least expected improvement, of the best's time; there are many to try

/// Expected improvement on `best` of something that is normal with this mean and deviation (Jones, Schonlau and Welch,
/// Efficient global optimization of expensive black-box functions, 1998).
double expected_improvement(double best, double mean, double deviation) {
    if (deviation <= 0) return std::max(0.0, best - mean);
    const double z = (best - mean) / deviation;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    return (best - mean) * 0.5 * std::erfc(-z / std::numbers::sqrt2) + deviation * density;
}

/// The expected time of every candidate: its prediction, corrected by measurements of similar candidates.
class Expectation {
public:
    Expectation(const IndexedSpace& space, const Progress& progress)
        : Expectation(space, progress, progress.fastest_first()) {}

    /// How much faster than the best so far a candidate may turn out, in logarithms.
    [[nodiscard]] double improvement(std::size_t candidate) const {
        const double mean = std::log(space_.predicted(candidate)) + common_ + model_->mean(candidate);
        return expected_improvement(best_, mean, std::sqrt(model_->scale() * model_->variance(candidate)));
    }
    void assume(std::size_t candidate) { model_->assume(candidate); }

private:
    Expectation(const IndexedSpace& space, const Progress& progress, const std::vector<std::size_t>& measured)
        : space_(space), best_(std::log(*progress.time[measured.front()])) {
        std::vector<double> errors;
        for (const std::size_t i : measured) errors.push_back(std::log(*progress.time[i] / space.predicted(i)));
        common_ = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
        for (double& error : errors) error -= common_;
        model_.emplace(space.grid(), everything(space.size()), likeliest_prior(space.grid(), measured, errors));
        for (std::size_t i = 0; i < measured.size(); ++i) model_->learn(measured[i], errors[i]);
        for (std::size_t i = 0; i < space.size(); ++i)
            if (progress.tried[i] && !progress.time[i]) model_->assume(i);  // its time tells nothing new
    }
    static std::vector<std::size_t> everything(std::size_t count) {
        std::vector<std::size_t> all(count);
        std::iota(all.begin(), all.end(), std::size_t{0});
        return all;
    }

    const IndexedSpace& space_;
    double best_;
    double common_ = 0;  ///< factor by which the model is off everywhere
    std::optional<ErrorModel> model_;
};

/// The best by predicted time; then, step by step, what promises most by what was measured, neighbours of the leaders
/// first; done when no trial is worth its while.
class ModelGuided : public Strategy {
public:
    ModelGuided(const SearchSpace& space, const SearchLimits& limits)
        : space_(space),
          limit_(limits.max_candidates > 0 ? static_cast<std::size_t>(limits.max_candidates) : kDefaultLimit) {}

    [[nodiscard]] std::vector<std::string> propose(const std::vector<Trial>& known) const override {
        const Progress progress = space_.progress(known);
        if (progress.tries >= limit_) return {};
        const std::size_t left = limit_ - progress.tries;
        const std::size_t alive = progress.tries - failures(progress);
        if (alive < kFirst) return space_.names(spread_choice(space_, progress.tried, std::min(left, kFirst - alive)));
        return space_.names(next_step(progress, std::min(left, kBatch)));
    }

private:
    [[nodiscard]] std::size_t failures(const Progress& progress) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < space_.size(); ++i) count += progress.failed(i) ? 1 : 0;
        return count;
    }

    [[nodiscard]] std::vector<std::size_t> next_step(const Progress& progress, std::size_t count) const {
        const std::vector<std::size_t> measured = progress.fastest_first();
        if (measured.empty()) return {};
        Expectation expectation(space_, progress);
        std::vector<double> preference = preferences(measured);
        for (std::size_t i = 0; i < space_.size(); ++i)
            if (progress.tried[i]) preference[i] = 0;
        std::vector<std::size_t> step;
        while (step.size() < count) {
            const std::optional<std::size_t> choice = most_promising(expectation, preference);
            if (!choice) break;
            step.push_back(*choice);
            preference[*choice] = 0;
            expectation.assume(*choice);
        }
        return step;
    }

    [[nodiscard]] std::optional<std::size_t> most_promising(const Expectation& expectation,
                                                            const std::vector<double>& preference) const {
        std::optional<std::size_t> choice;
        double most = kWorthATrial;
        for (std::size_t i = 0; i < space_.size(); ++i) {
            const double promise = preference[i] > 0 ? preference[i] * expectation.improvement(i) : 0;
            if (promise > most) choice = i, most = promise;
        }
        return choice;
    }

    /// 1, and more for the neighbours of those fastest so far.
    [[nodiscard]] std::vector<double> preferences(const std::vector<std::size_t>& measured) const {
        std::vector<double> preference(space_.size(), 1);
        for (std::size_t leader = 0; leader < std::min(kLeaders, measured.size()); ++leader)
            for (const std::size_t neighbour : space_.grid().neighbours(measured[leader]))
                preference[neighbour] = kPreference;
        return preference;
    }

    IndexedSpace space_;
    std::size_t limit_;
};

}  // namespace

std::unique_ptr<Strategy> make_model(const SearchSpace& space, const SearchLimits& limits) {
    return std::make_unique<ModelGuided>(space, limits);
}

}  // namespace jitgemm::tuning
