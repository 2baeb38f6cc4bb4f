#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/problem.hpp"
#include "generator/families/simt_long_k/config.hpp"

namespace jitgemm {

/// Elements of a thread along M or N.
inline constexpr int kMostThreadElements = 16;

/// A lower bound of SimtLongK::cost(), without the bank conflicts that take most of its time.
[[nodiscard]] double long_k_least_us(const Problem& problem, const SimtLongKConfig& config, const GpuModel& gpu);
/// The same for all configs with the lanes and threads of this one.
[[nodiscard]] double long_k_least_us_of_tile(const Problem& problem, const SimtLongKConfig& tile, const GpuModel& gpu);

}  // namespace jitgemm
