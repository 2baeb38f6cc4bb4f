#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/problem.hpp"
#include "generator/families/kernel_config.hpp"

#include <optional>

namespace jitgemm {

/// The work that an epilogue's text adds to a kernel.
struct EpilogueCost {
    double read_bytes = 0;          ///< of its operands, each element once
    double written_bytes = 0;       ///< of D and of the outputs beside it
    double special_operations = 0;  ///< special-function instructions for an element of D
    double other_operations = 0;
    /// The predicted time of the same config that stores the sums. Unset where a plain product breaks its rules.
    std::optional<double> plain_us;
};

/// Unset for a problem without a text.
[[nodiscard]] std::optional<EpilogueCost> epilogue_cost(const Problem& problem, const KernelConfig& config,
                                                        const GpuModel& gpu);

}  // namespace jitgemm
