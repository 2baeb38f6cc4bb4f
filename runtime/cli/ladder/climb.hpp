#pragma once

#include "runtime/bench/benchmark.hpp"
#include "runtime/cli/ladder/report.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/context/context_state.hpp"

#include <functional>
#include <optional>

namespace jitgemm::cli {

struct ClimbOptions {
    double cpu_limit_seconds = 1;  ///< 0: the CPU loop is skipped
    int rounds = 15;               ///< of a GPU's steady timing, for rungs fast enough
};

/// Told after each rung, with its place in the report.
using RungDone = std::function<void(const LadderReport&, std::size_t rung)>;

/// Builds, verifies and times (on the emulator: counts) every rung on the context's device, into `report`, whose
/// problem is given. A rung that cannot serve the problem or fails is told in its place, and the ladder goes on; after
/// Ctrl-C the report is marked and holds the rungs done by then. `begun` is called once, when cuBLASLt's figures are
/// there. Throws CudaError for what a device does not recover from.
void climb(ContextState& context, const ProblemRequest& request, const ClimbOptions& options, Output& output,
           const std::function<void(const LadderReport&)>& begun, const RungDone& done, LadderReport& report);

/// How many rounds of a steady timing fit into the time a rung may take; nothing where not even a few do, and a single
/// launch has to be enough. `launch_us`: of all candidates together; `copies`: of the rotating operands.
[[nodiscard]] std::optional<int> rounds_within_budget(double launch_us, std::int64_t copies, int wanted_rounds);

}  // namespace jitgemm::cli
