#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "runtime/tuning/store/tuned_sets.hpp"

namespace jitgemm::tuning {

/// build_kernel_set() with what was tuned: the sampled m have their tuned choices, and each m of the range that was
/// tuned is a sample.
[[nodiscard]] KernelSet tuned_kernel_set(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m,
                                         const GpuModel& gpu, const Selection& selection, const TunedChoices& choices,
                                         KernelSetOptions options = {});

/// The set that serves a range of m: the stored one, else tuned_kernel_set().
[[nodiscard]] KernelSet serving_kernel_set(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m,
                                           const GpuModel& gpu, const Selection& selection, const TunedChoices& choices,
                                           const TunedSets& sets);

}  // namespace jitgemm::tuning
