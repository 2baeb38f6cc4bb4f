#pragma once

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"

#include <optional>
#include <span>

/// \file Which kernel serves a problem while the chosen one is being compiled.

namespace jitgemm {

/// How much longer than the chosen kernel a loaded one may be predicted to take. Beyond that, the request waits.
inline constexpr double kMostTimesSlower = 8;

/// The kernel among `loaded` with the best predicted time that computes the problem, by all rules of its family: with
/// Determinism::batch_invariant they demand the order of sums. Unset if all of them are more than kMostTimesSlower
/// slower than `choice`.
[[nodiscard]] std::optional<KernelConfig> best_stand_in(const Problem& problem, const KernelConfig& choice,
                                                        std::span<const KernelId> loaded, const GpuModel& gpu);

}  // namespace jitgemm
