#include "runtime/support/hash.hpp"
#include "runtime/tuning/search/strategies.hpp"

#include <algorithm>
#include <cstdint>
#include <random>

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kPopulation = 16;
constexpr std::size_t kOffspring = 8;   // of a generation
constexpr int kPatience = 5;            // generations without a better best
constexpr int kAttempts = 20;           // at an offspring that was not tried before
constexpr double kImprovement = 0.998;  // of the best's time: less is noise
constexpr std::size_t kHexDigits = 16;  // of a 64-bit seed

/// The same numbers on every machine, which the standard's distributions don't promise.
class Dice {
public:
    explicit Dice(const GemmSpec& spec)
        : engine_(std::stoull(hash_hex(to_string(spec)).substr(0, kHexDigits), nullptr, 16)) {}
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
    bool coin() { return below(2) == 0; }

private:
    std::mt19937_64 engine_;
};

/// Bounded local search with a population: the better half has offspring, by a step of one parameter or by mixing the
/// parameters of two. What was proposed is not remembered but worked out again from the same dice, so a resumed search
/// goes on where it was.
class Evolution : public Strategy {
public:
    Evolution(const SearchSpace& space, const SearchLimits& limits)
        : space_(space),
          spec_(space.spec),
          limit_(limits.max_candidates > 0 ? static_cast<std::size_t>(limits.max_candidates) : kDefaultLimit) {}

    [[nodiscard]] std::vector<std::string> propose(const std::vector<Trial>& known) const override {
        const Progress progress = space_.progress(known);
        if (progress.tries >= limit_) return {};
        std::vector<std::size_t> next = untried_generation(progress);
        next.resize(std::min(next.size(), limit_ - progress.tries));
        return space_.names(next);
    }

private:
    struct State {
        Dice dice;
        std::vector<bool> born;
        std::vector<std::size_t> population;  ///< fastest first
    };

    /// Lives through the generations up to the first with a member that was not tried.
    [[nodiscard]] std::vector<std::size_t> untried_generation(const Progress& progress) const {
        State state{Dice(spec_), std::vector<bool>(space_.size()), {}};
        std::vector<std::size_t> generation = founders(state);
        for (int idle = 0; idle < kPatience && !generation.empty();) {
            std::vector<std::size_t> untried;
            for (const std::size_t one : generation)
                if (!progress.tried[one]) untried.push_back(one);
            if (!untried.empty()) return untried;
            idle = admit(state, generation, progress) ? 0 : idle + 1;
            generation = offspring(state);
        }
        return {};
    }

    /// Half the most promising, half by lot from the better half of the space.
    std::vector<std::size_t> founders(State& state) const {
        std::vector<std::size_t> all = spread_choice(space_, state.born, kPopulation / 2);
        for (const std::size_t one : all) state.born[one] = true;
        for (int attempt = 0; attempt < kAttempts && all.size() < kPopulation; ++attempt) {
            const std::size_t one = state.dice.below((space_.size() + 1) / 2);
            if (state.born[one]) continue;
            state.born[one] = true;
            all.push_back(one);
        }
        return all;
    }

    /// The generation's living join the population, which keeps its best; whether there is a clearly better best.
    static bool admit(State& state, const std::vector<std::size_t>& generation, const Progress& progress) {
        const auto time = [&](std::size_t one) { return *progress.time[one]; };
        std::vector<std::size_t>& population = state.population;
        const bool first = population.empty();
        const double before = first ? 0 : time(population.front());
        for (const std::size_t one : generation)
            if (progress.time[one]) population.push_back(one);
        std::ranges::sort(population, {}, [&](std::size_t one) { return std::pair(time(one), one); });
        population.resize(std::min(population.size(), kPopulation));
        return !population.empty() && (first || time(population.front()) < kImprovement * before);
    }

    [[nodiscard]] std::vector<std::size_t> offspring(State& state) const {
        if (state.population.empty()) return founders(state);
        std::vector<std::size_t> generation;
        for (std::size_t i = 0; i < kOffspring; ++i) {
            for (int attempt = 0; attempt < kAttempts; ++attempt) {
                const std::size_t child = child_of(state);
                if (state.born[child]) continue;
                state.born[child] = true;
                generation.push_back(child);
                break;
            }
        }
        return generation;
    }

    std::size_t child_of(State& state) const {
        const std::size_t one = parent(state);
        const std::size_t other = parent(state);
        const bool mixed = one != other && state.dice.coin();
        const std::size_t child =
            mixed ? space_.grid().crossed(one, other, [&](std::size_t) { return state.dice.coin(); }) : one;
        return mixed && !state.born[child] ? child : mutated(state, child);
    }

    /// The faster of two drawn by lot: the population is sorted.
    static std::size_t parent(State& state) {
        const std::size_t count = state.population.size();
        const std::size_t first = state.dice.below(count);  // one draw after the other: their order is part of the dice
        const std::size_t second = state.dice.below(count);
        return state.population[std::min(first, second)];
    }

    std::size_t mutated(State& state, std::size_t one) const {
        const std::vector<std::size_t> neighbours = space_.grid().neighbours(one);
        return neighbours.empty() ? one : neighbours[state.dice.below(neighbours.size())];
    }

    IndexedSpace space_;
    GemmSpec spec_;
    std::size_t limit_;
};

}  // namespace

std::unique_ptr<Strategy> make_evolve(const SearchSpace& space, const SearchLimits& limits) {
    return std::make_unique<Evolution>(space, limits);
}

}  // namespace jitgemm::tuning
