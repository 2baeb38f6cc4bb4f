#pragma once

#include "generator/heuristics.hpp"
#include "runtime/jitgemm.hpp"
#include "runtime/tuning/records.hpp"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace jitgemm::tuning {

/// Farthest that a tuned problem may be from the one asked for: sqrt(Σ log2(ratio)²) over m, n and k. 1.5 is a factor of
/// 2.8 in one of them, or of 1.8 in all.
inline constexpr double kNearestLimit = 1.5;
/// How much longer a neighbour's kernel may be predicted to take than the heuristic's choice: tiles and waves that came
/// out even there may not here. Beyond what the model was wrong by on the neighbour itself.
inline constexpr double kNearestSlack = 1.05;

/// A kernel for a request, and why this one.
struct TunedChoice {
    KernelConfig config;
    ChoiceSource source = ChoiceSource::heuristic;
    std::string reason;                  ///< a sentence for people, without its full stop
    std::optional<GemmSpec> tuned_spec;  ///< nearest: the problem it was measured on
    double distance = 0;                 ///< nearest: how far that is
};

/// The winners of one class of devices, by problem. Immutable: one object serves many threads.
class TunedChoices {
public:
    TunedChoices() = default;
    /// `winners` are of the device that choose() is asked for. `today` tells stale ones, which are hints.
    TunedChoices(const std::vector<Winner>& winners, Versions today);

    /// The winner of this very problem; else that of the nearest tuned one with the same types, layout, order of D, C or
    /// none and alignments, if its tiles and waves suit; else the heuristic's choice. A kernel that does not pass its
    /// family's constraints, or the selection, is passed over, with a line in the log. Throws what choose_config throws.
    [[nodiscard]] TunedChoice choose(const GemmSpec& spec, const GpuModel& gpu, const Selection& selection = {}) const;
    [[nodiscard]] bool empty() const { return classes_.empty(); }

private:
    struct Neighbour {
        const Winner* winner;
        double distance;
    };
    [[nodiscard]] std::optional<TunedChoice> exact(const GemmSpec& spec, const GpuModel& gpu,
                                                   const Selection& selection) const;
    [[nodiscard]] std::optional<TunedChoice> nearest(const GemmSpec& spec, const GpuModel& gpu,
                                                     const Selection& selection, const KernelConfig& heuristic) const;
    [[nodiscard]] std::vector<Neighbour> neighbours(const GemmSpec& spec) const;
    [[nodiscard]] std::string age(const Winner& winner) const;

    /// By the spec without its sizes: problems that one kernel can serve. Specs are row-major in D.
    std::unordered_map<GemmSpec, std::vector<Winner>> classes_;
    Versions today_;
};

}  // namespace jitgemm::tuning
