#pragma once

#include "generator/generate.hpp"

#include <cstdint>
#include <vector>

namespace jitgemm::testing {

/// A problem and a kernel for it on sm_90a.
struct DumpSample {
    GemmSpec spec;  ///< resolved
    KernelConfig config;

    [[nodiscard]] KernelSource source() const;
};

/// Every layout with every alignment, every layout with one of them by turns, or one of each: choosing all kernels
/// takes long.
enum class SampleExtent : std::uint8_t { every_layout, alignments_by_turns, one_layout };

/// Kernels of every family, in every layout, with everything that changes what a dump says: types, C, alignments,
/// constant operands, and each parameter. Each kernel once.
[[nodiscard]] std::vector<DumpSample> dump_samples(SampleExtent extent = SampleExtent::every_layout);

}  // namespace jitgemm::testing
