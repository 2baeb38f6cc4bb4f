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

/// Every layout and alignment, or one of each.
enum class SampleExtent : std::uint8_t { every_layout, one_layout };

/// Kernels of every family, in every layout, with everything that changes what a dump says: types, C, alignments,
/// constant operands, and each parameter. Each kernel once.
[[nodiscard]] std::vector<DumpSample> dump_samples(SampleExtent extent = SampleExtent::every_layout);

}  // namespace jitgemm::testing
