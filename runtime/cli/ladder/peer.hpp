#pragma once

#include "runtime/bench/benchmark.hpp"
#include "runtime/cli/ladder/report.hpp"
#include "runtime/context/context_state.hpp"

#include <optional>

namespace jitgemm::cli {

/// cuBLASLt's fastest algorithm for the problem with a right result, found once for a whole ladder. Its figures go to
/// `peer`. If there is none, the result is nothing and `peer` holds the reason. Throws Interrupted after Ctrl-C, and
/// CudaError for errors of the device.
[[nodiscard]] std::optional<BenchCandidate> best_of_cublaslt(ContextState& context, const GemmSpec& spec,
                                                             const TimingOptions& timing, LadderPeer& peer);

}  // namespace jitgemm::cli
