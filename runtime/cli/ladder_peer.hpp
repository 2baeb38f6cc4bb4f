#pragma once

#include "runtime/benchmark.hpp"
#include "runtime/cli/ladder_report.hpp"
#include "runtime/context.hpp"

#include <optional>

namespace jitgemm::cli {

/// cuBLASLt's fastest algorithm for the problem whose result is right, found once for a whole ladder; its figures go to
/// `peer`. Nothing, and why, where there is none. Throws Interrupted after Ctrl-C, CudaError for errors of the device.
[[nodiscard]] std::optional<Contender> best_of_cublaslt(Context::Impl& context, const GemmSpec& spec,
                                                        const TimingOptions& timing, LadderPeer& peer);

}  // namespace jitgemm::cli
