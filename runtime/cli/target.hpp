#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/problem.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/tuning/store/lookup.hpp"

#include <optional>
#include <string>

namespace jitgemm::cli {

/// The GPU to generate for where none needs to be there: --gpu, else the typical one of --arch, else this machine's,
/// else the typical sm_80.
struct Target {
    GpuModel gpu;
    std::string origin;    ///< where that choice comes from, for people
    bool assumed = false;  ///< neither an option nor a device says so
};

/// Throws SpecError for unknown names, UsageError when --gpu and --arch contradict each other.
[[nodiscard]] Target choose_target(const ProblemOptions& problem);

/// This machine's first GPU, asked of the driver alone: no context is made. Nothing, and why, when there is none.
[[nodiscard]] std::optional<GpuModel> first_gpu(std::string& reason);

/// The kernel that serves the problem there: a tuned one of the settings' store or wisdom file, else the heuristic's.
/// Throws what choose_config throws.
[[nodiscard]] tuning::TunedChoice choose_kernel(const ProblemOptions& problem, const Problem& asked,
                                                const Target& target);

/// "h200 (sm_90a, 132 SMs), this machine's GPU".
[[nodiscard]] std::string describe(const Target& target);

}  // namespace jitgemm::cli
