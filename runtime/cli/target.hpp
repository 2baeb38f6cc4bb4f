#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/problem.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/tuning/store/lookup.hpp"

#include <optional>
#include <string>

namespace jitgemm::cli {

/// The GPU to generate for; it need not exist here. It is --gpu, else the typical one of --arch, else this machine's,
/// else the typical sm_80.
struct Target {
    GpuModel gpu;
    std::string origin;    ///< the source of the choice, for people
    bool assumed = false;  ///< neither an option nor a device names it
};

/// Throws SpecError for unknown names, and UsageError if --gpu and --arch contradict each other.
[[nodiscard]] Target choose_target(const ProblemOptions& problem);

/// This machine's first GPU, from the driver without a context. If there is none, the result is nothing and `reason`
/// says why.
[[nodiscard]] std::optional<GpuModel> first_gpu(std::string& reason);

/// The kernel that serves the problem on the target: a tuned one of the settings' store or wisdom file, else the
/// heuristic's. Throws the errors of choose_config.
[[nodiscard]] tuning::TunedChoice choose_kernel(const ProblemOptions& problem, const Problem& asked,
                                                const Target& target);

/// "h200 (sm_90a, 132 SMs), this machine's GPU".
[[nodiscard]] std::string describe(const Target& target);

}  // namespace jitgemm::cli
