#pragma once

namespace jitgemm {

/// The time in which NVRTC and ptxas compile a kernel as the first of a process, on one core of a server. Each family
/// has a table of measured costs. More sums of a thread make a longer kernel.
struct CompileCost {
    double base_ms;
    double ms_per_sum;

    [[nodiscard]] constexpr double ms(int sums) const { return base_ms + ms_per_sum * sums; }
};

/// A family that nobody measured.
inline constexpr CompileCost kUsualCompileCost{.base_ms = 150, .ms_per_sum = 2};

}  // namespace jitgemm
