#pragma once

#include "runtime/bench/benchmark.hpp"
#include "runtime/cli/ladder/report.hpp"
#include "runtime/context/context_state.hpp"

#include <optional>

namespace jitgemm::cli {

/// cuBLASLt's fastest algorithm for the problem whose result is right, found once for a whole ladder; its figures go to
/// `peer`. Nothing, and why, where there is none. Throws Interrupted after Ctrl-C, CudaError for errors of the device.
[[nodiscard]] std::optional<BenchCandidate> best_of_cublaslt(ContextState& context, const GemmSpec& spec,
                                                             const TimingOptions& timing, LadderPeer& peer);

}  // namespace jitgemm::cli
