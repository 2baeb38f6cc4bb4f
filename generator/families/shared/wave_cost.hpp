#pragma once

#include "generator/base/renderer.hpp"
#include "generator/families/shared/anatomy.hpp"
#include "generator/families/shared/cost_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace jitgemm {

/// Elements of an extent that a tile has in the mean.
[[nodiscard]] inline double share_of(std::int64_t extent, int tile) {
    const double tiles = std::ceil(static_cast<double>(extent) / tile);
    return static_cast<double>(extent) / std::max(1.0, tiles);
}

/// Sets math_us, tail_us and waves of a cost whose blocks_per_sm is known, on `sm_count` SMs. `wave_cycles(resident)`
/// is the time of a wave with `resident` blocks on an SM, and 0 without blocks. Full waves run with every SM full. The
/// blocks left over spread out, fewer on an SM.
template <typename WaveCycles>
void add_waves(CostEstimate& cost, double blocks, int sm_count, double clock_mhz, const WaveCycles& wave_cycles) {
    const double slots = static_cast<double>(sm_count) * cost.blocks_per_sm;
    cost.waves = blocks / slots;
    const double full_waves = std::floor(cost.waves);
    const double left = blocks - full_waves * slots;
    const double full_wave = wave_cycles(cost.blocks_per_sm);
    const double last_wave = wave_cycles(static_cast<int>(std::ceil(left / sm_count)));
    const double us_per_cycle = 1 / clock_mhz;
    cost.math_us = (full_waves * full_wave + last_wave) * us_per_cycle;
    cost.tail_us = std::max(0.0, last_wave - left / slots * full_wave) * us_per_cycle;
}

}  // namespace jitgemm
