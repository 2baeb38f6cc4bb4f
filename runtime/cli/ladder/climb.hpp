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

/// Called after each rung, with its place in the report.
using RungDone = std::function<void(const LadderReport&, std::size_t rung)>;

/// Builds, verifies and times every rung on the context's device (the emulator counts), into `report`, whose problem is
/// set. A rung that fails or cannot serve the problem is reported in its place, and the ladder goes on. After Ctrl-C
/// the report is marked and holds the finished rungs. `begun` is called once, when cuBLASLt's figures are there. Throws
/// CudaError for errors from which a device does not recover.
void climb(ContextState& context, const ProblemRequest& request, const ClimbOptions& options, Output& output,
           const std::function<void(const LadderReport&)>& begun, const RungDone& done, LadderReport& report);

/// The number of rounds of a steady timing that fit into a rung's time. Nothing if not even a few do: a single launch
/// must then be enough. `launch_us` is for all candidates together, and `copies` is of the rotating operands.
[[nodiscard]] std::optional<int> rounds_within_budget(double launch_us, std::int64_t copies, int wanted_rounds);

}  // namespace jitgemm::cli
