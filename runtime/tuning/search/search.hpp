#pragma once

#include "generator/heuristics.hpp"
#include "runtime/tuning/store/records.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// \file Which candidates to try, in what order, and who wins: pure functions of what was measured. Two sweeps with the
/// same measurements take the same steps.

namespace jitgemm::tuning {

enum class StrategyKind : std::uint8_t { exhaustive, model };
[[nodiscard]] std::string_view to_string(StrategyKind kind);
/// Throws Error naming the text and the nearest strategy.
[[nodiscard]] StrategyKind parse_strategy(std::string_view text);

/// What may be tried for one problem: the heuristic's accepted candidates (constraints, bank conflicts), fastest
/// predicted first.
struct SearchSpace {
    GemmSpec spec;  ///< resolved, with the D order that was asked for
    std::vector<Candidate> candidates;
    std::vector<std::string> kernels;  ///< canonical names of the candidates, each once
    std::string heuristic_kernel;  ///< the heuristic's choice of all there are, also where a selection leaves it out
    double heuristic_predicted_us = 0;
};
/// Throws ConfigError with every reason when nothing is left.
[[nodiscard]] SearchSpace search_space(const Problem& problem, const GpuModel& gpu, const Selection& selection);

struct SearchLimits {
    int max_candidates = 0;  ///< 0: the strategy's own (own_limit)
};

/// Proposes kernels in batches, told all that is known so far.
class Strategy {
public:
    virtual ~Strategy() = default;
    /// Kernels to try next, none tried before (`known` holds all that were proposed, in any order); empty: done, unless
    /// some of `known` are unfinished: then ask again when they are. Deterministic.
    [[nodiscard]] virtual std::vector<std::string> propose(const std::vector<Trial>& known) const = 0;
};
/// How many of so many candidates it tries where nobody limits it.
[[nodiscard]] std::size_t own_limit(StrategyKind kind, std::size_t candidates);
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(StrategyKind kind, const SearchSpace& space,
                                                      const SearchLimits& limits);

// ---- statistics -----------------------------------------------------------------------------------------------------

struct Interval {
    double median = 0;
    double low = 0;   ///< 95 % confidence interval of the median, from order statistics (binomial, distribution-free);
    double high = 0;  ///< the extremes where there are fewer than 6 values
};
/// Throws Error for no values.
[[nodiscard]] Interval median_interval(std::vector<double> values);

/// Rounds of a screening: the fewest whose median shrugs off a disturbed one. What a strategy proposes hangs on these
/// alone, however many a kernel has had since: a search that goes on takes the steps it took.
inline constexpr std::size_t kScreening = 3;

/// The heuristic's kernel: it has its turn in every round, and what it took there is what other times are compared by
/// (comparable_times). Screening batches share no round, and the clock is another every time.
struct Reference {
    std::string kernel;
    bool competes = true;  ///< false: a selection leaves it out, so that it is timed and cannot win
};
/// The kernel's own trial, or that of the twin it ran under; null where there is none.
[[nodiscard]] const Trial* find_measured(const std::vector<Trial>& trials, const std::string& kernel);
/// Its median in the first screening, or that of its twin; 0 where it was not timed.
[[nodiscard]] double reference_us(const std::vector<Trial>& trials, const std::string& kernel);
/// A trial's times as they would have been in rounds where the reference takes `reference_us`; those of rounds without
/// it as they are.
[[nodiscard]] std::vector<double> comparable_times(const Trial& trial, double reference_us);

/// Successive halving: rounds each kernel should have now. Screening 3 rounds for all; then the kernels that are no
/// clear losers, at most half, get 7; then at most 4 finalists get 15, and up to 31 while it is open which of them are
/// equals. The heuristic's own stays to the end.
struct RoundPlan {
    std::vector<std::string> kernels;  ///< to be timed together, interleaved
    int rounds = 0;                    ///< that each of them shall have in all
    bool sustained = false;            ///< they are of rounds that time by the sustained protocol as well
};
/// The next timing to make among the verified candidates; nothing when the search for a winner has all its rounds.
[[nodiscard]] std::optional<RoundPlan> next_rounds(const std::vector<Trial>& trials, const Reference& reference,
                                                   bool screening_only);

/// From so many microseconds on, power may decide.
inline constexpr double kPowerBoundUs = 200;
/// Once next_rounds() has no more: what alternates every few milliseconds runs at one clock and is compared by its
/// cycles, so of a problem of kPowerBoundUs and more the fastest four within 5 % have three further rounds in which
/// each also runs alone, where what takes more energy runs at a lower clock; and the heuristic's own. Nothing when they
/// have had them, and for problems that are faster.
[[nodiscard]] std::optional<RoundPlan> sustained_rounds(const std::vector<Trial>& trials, const Reference& reference);
/// How many of a trial's rounds those were.
[[nodiscard]] int count_sustained(const Trial& trial);
/// The heuristic's own median by the sustained protocol, or that of its twin; 0 where it has not all those rounds.
[[nodiscard]] double reference_sustained_us(const std::vector<Trial>& trials, const std::string& kernel);
/// The geometric mean of both protocols' times as a multiple of the steady one, `steady_us`; nothing where the trial
/// has not all those rounds.
[[nodiscard]] std::optional<double> sustained_factor(const Trial& trial, double steady_us,
                                                     double reference_sustained_us);

/// The best by median of those timed in earnest (at least half as many rounds as any other); among kernels whose
/// intervals overlap the best's, and whose median is within 0.5 % (1 % and the noise on top would be more), the one
/// that comes first in canonical order (simplest first: fewer entries, then the name). Where finalists have had their
/// sustained rounds, the best of them by both protocols. Nothing when none was timed.
[[nodiscard]] std::optional<std::string> pick_winner(const std::vector<Trial>& trials, const Reference& reference);

}  // namespace jitgemm::tuning
