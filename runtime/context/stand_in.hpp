#pragma once

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"

#include <optional>
#include <span>

/// \file Which kernel serves a problem while the chosen one is being compiled.

namespace jitgemm {

/// How much longer than the chosen kernel a loaded one may be predicted to take. Beyond that, the request waits for a
/// compile.
inline constexpr double kMostTimesSlower = 16;

/// The same for a kernel that is compiled because no loaded kernel serves.
inline constexpr double kMostTimesSlowerQuick = 4;

/// The kernel among `loaded` with the best predicted time that computes the problem, by all rules of its family: with
/// Determinism::batch_invariant they demand the order of sums. Unset if all of them are more than kMostTimesSlower
/// slower than `choice`.
[[nodiscard]] std::optional<KernelConfig> best_stand_in(const Problem& problem, const KernelConfig& choice,
                                                        std::span<const KernelId> loaded, const GpuModel& gpu);

/// Where no loaded kernel serves: a kernel that is compiled much faster than `choice`, by all rules of its family.
/// Unset if there is none.
[[nodiscard]] std::optional<KernelConfig> quick_stand_in(const Problem& problem, const KernelConfig& choice,
                                                         const GpuModel& gpu);

}  // namespace jitgemm
