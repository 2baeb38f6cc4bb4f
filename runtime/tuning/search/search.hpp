#pragma once

#include "generator/heuristics.hpp"
#include "runtime/tuning/store/records.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// \file The choice of candidates, their order, and the winner, as pure functions of measurements. Two sweeps with the
/// same measurements take the same steps.

namespace jitgemm::tuning {

enum class StrategyKind : std::uint8_t { exhaustive, model };
[[nodiscard]] std::string_view to_string(StrategyKind kind);
/// Throws Error with the text and the nearest strategy.
[[nodiscard]] StrategyKind parse_strategy(std::string_view text);

/// The candidates for one problem: those that the heuristic accepts (constraints, bank conflicts). The one with the
/// shortest predicted time is first.
struct SearchSpace {
    GemmSpec spec;  ///< resolved, with the D order of the request
    std::vector<Candidate> candidates;
    std::vector<std::string> kernels;  ///< canonical names of the candidates, each once
    std::string heuristic_kernel;      ///< the heuristic's choice among all kernels, even if a selection leaves it out
    double heuristic_predicted_us = 0;
};
/// Throws ConfigError with every reason if nothing is left.
[[nodiscard]] SearchSpace search_space(const Problem& problem, const GpuModel& gpu, const Selection& selection);

/// Adds a kernel that nobody proposes for the problem. False if it is none of this version's or does not serve it.
bool add_kernel(SearchSpace& space, const Problem& problem, const GpuModel& gpu, const std::string& kernel);

struct SearchLimits {
    int max_candidates = 0;  ///< 0: the strategy's own (own_limit)
};

/// Proposes kernels in batches, from everything known so far.
class Strategy {
public:
    virtual ~Strategy() = default;
    /// Kernels to try next; none was tried before. `known` holds all proposed kernels, in any order. An empty result
    /// means the end, unless some of `known` are unfinished: the caller then asks again when they are finished.
    /// Deterministic.
    [[nodiscard]] virtual std::vector<std::string> propose(const std::vector<Trial>& known) const = 0;
};
/// The number of candidates, among this many, that the strategy tries without a limit.
[[nodiscard]] std::size_t own_limit(StrategyKind kind, std::size_t candidates);
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(StrategyKind kind, const SearchSpace& space,
                                                      const SearchLimits& limits);

// ---- statistics -----------------------------------------------------------------------------------------------------

struct Interval {
    double median = 0;
    double low = 0;   ///< 95 % confidence interval of the median, from order statistics (binomial, distribution-free);
    double high = 0;  ///< the extremes if there are fewer than 6 values
};
/// Throws Error for no values.
[[nodiscard]] Interval median_interval(std::vector<double> values);

/// Rounds of a screening: the fewest whose median survives a disturbed one. A strategy's proposals depend only on these
/// rounds, however many follow. A resumed search therefore repeats its steps.
inline constexpr std::size_t kScreening = 3;

/// The heuristic's kernel. It has a turn in every round, and its times there make times of different rounds comparable
/// (comparable_times). Screening batches share no round, and the clock differs each time.
struct Reference {
    std::string kernel;
    bool competes = true;  ///< false: a selection leaves it out. It is timed and cannot win
};
/// The kernel's own trial, or that of the twin that was measured for it; null if there is none.
[[nodiscard]] const Trial* find_measured(const std::vector<Trial>& trials, const std::string& kernel);
/// Its median in the first screening, or that of its twin; 0 if it was not timed.
[[nodiscard]] double reference_us(const std::vector<Trial>& trials, const std::string& kernel);
/// A trial's times, scaled to rounds in which the reference takes `reference_us`. Times of rounds without the reference
/// stay as they are.
[[nodiscard]] std::vector<double> comparable_times(const Trial& trial, double reference_us);

/// Successive halving: the number of rounds that each kernel should have now. All have 3 rounds of screening. Then the
/// kernels that are no clear losers, at most half, get 7. Then at most 4 finalists get 15, and up to 31 while it is
/// open which of them are equal. The heuristic's own kernel stays to the end.
struct RoundPlan {
    std::vector<std::string> kernels;  ///< timed together, interleaved
    int rounds = 0;                    ///< the total number for each of them
    bool sustained = false;            ///< these rounds also time by the sustained protocol
};
/// The next timing among the verified candidates; nothing if the search for a winner has all its rounds.
[[nodiscard]] std::optional<RoundPlan> next_rounds(const std::vector<Trial>& trials, const Reference& reference,
                                                   bool screening_only);

/// From this time of a launch on, power may decide.
inline constexpr double kPowerBoundUs = 200;
/// The rounds after the last of next_rounds(). Kernels that alternate every few milliseconds run at one clock, so those
/// times compare cycles. For a problem of kPowerBoundUs or more, the fastest four within 5 %, and the heuristic's own
/// kernel, have three further rounds. In them each kernel also runs alone, where one that takes more energy runs at a
/// lower clock. Nothing if they have had these rounds, and for faster problems.
[[nodiscard]] std::optional<RoundPlan> sustained_rounds(const std::vector<Trial>& trials, const Reference& reference);
/// The number of a trial's rounds with the sustained protocol.
[[nodiscard]] int count_sustained(const Trial& trial);
/// The median of the heuristic's kernel by the sustained protocol, or that of its twin; 0 if it lacks some of these
/// rounds.
[[nodiscard]] double reference_sustained_us(const std::vector<Trial>& trials, const std::string& kernel);
/// The geometric mean of both protocols' times over the steady one, `steady_us`; nothing if the trial lacks some of
/// these rounds.
[[nodiscard]] std::optional<double> sustained_factor(const Trial& trial, double steady_us,
                                                     double reference_sustained_us);

/// The kernel with the best median among those with at least half as many rounds as any other. Some kernels count as
/// equal to it: their intervals overlap the best's, and their medians are within 0.5 % (with noise, a limit of 1 %
/// would let more than 1 % pass). Of these, the first one in canonical order wins (fewer entries, then the name). If
/// finalists have had their sustained rounds, the best of them by both protocols wins. Nothing if none was timed.
[[nodiscard]] std::optional<std::string> pick_winner(const std::vector<Trial>& trials, const Reference& reference);

}  // namespace jitgemm::tuning
