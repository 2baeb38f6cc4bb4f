#pragma once

#include "generator/families/family.hpp"

#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

/// The parts of the choice that the caller fixes. If it is empty, everything is free.
struct Selection {
    std::optional<std::string> kernel;  ///< canonical kernel name: exactly this one
    std::optional<std::string> family;
    ParameterMap parameters;  ///< only candidates with these values; a value outside the candidates' is tried too

    [[nodiscard]] bool takes_all() const { return !kernel && !family && parameters.empty(); }
};

struct Candidate {
    KernelConfig config;
    CostEstimate cost;
};

struct RejectedCandidate {
    KernelConfig config;
    std::vector<std::string> reasons;
};

struct CandidateList {
    /// Best predicted time first, ties in canonical name order; those whose time is a guess (Family::is_untimed) after
    /// all others.
    std::vector<Candidate> accepted;
    std::vector<RejectedCandidate> rejected;
    std::vector<std::string> unsupported;  ///< why whole families were left out
};

/// All candidates for the problem, in the heuristic's order.
/// Throws ConfigError for a selection that names what does not exist or does not fit (all reasons).
[[nodiscard]] CandidateList list_candidates(const Problem& problem, const GpuModel& gpu,
                                            const Selection& selection = {});

/// The heuristic's choice: the head of list_candidates, found without building the whole list.
/// Throws ConfigError with the reasons, in at most ten lines, when nothing serves the problem.
[[nodiscard]] KernelConfig choose_config(const Problem& problem, const GpuModel& gpu, const Selection& selection = {});

/// The heuristic's choice, then the candidates that are predicted to take at most `slack` times as long, in its order.
/// Throws what choose_config throws.
[[nodiscard]] std::vector<Candidate> near_candidates(const Problem& problem, const GpuModel& gpu,
                                                     const Selection& selection, double slack);

/// A config to serve with until a better kernel has been compiled: it is compiled fast, and launches that come
/// meanwhile count a little. Unset if no candidate is predicted to take at most `limit_us`.
[[nodiscard]] std::optional<KernelConfig> quick_config(const Problem& problem, const GpuModel& gpu, double limit_us);

}  // namespace jitgemm
