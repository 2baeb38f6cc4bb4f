#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/tuning/store/store.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// A value of m at which kernels are measured to choose a set.
struct SetPoint {
    std::int64_t m = 1;
    GemmSpec spec;  ///< resolved, with this m
    std::vector<std::string> kernels;
};

/// Where to measure what: at the values of m at which ranges of the predicted set begin, and between these. There, the
/// set's own kernels and other near candidates are measured.
[[nodiscard]] std::vector<SetPoint> set_points(const KernelSet& predicted, const GpuModel& gpu,
                                               const Selection& selection);

/// Times that were measured at these points, for KernelSetOptions::times. Kernels without a time are left out.
[[nodiscard]] std::vector<KernelTime> set_times(const std::vector<SetPoint>& points,
                                                const std::vector<ProblemRecord>& records);

}  // namespace jitgemm::tuning
