#pragma once

#include "generator/draw/bar_chart.hpp"
#include "runtime/cli/ladder/report.hpp"

#include <string>

namespace jitgemm::cli {

/// TFLOP/s of each rung, with a line at cuBLASLt's. On the emulator there is a chart for each of instructions, sectors
/// and wavefronts.
[[nodiscard]] std::string ladder_bars(const LadderReport& report);

/// The meanings of the charts' colours as a line of HTML.
[[nodiscard]] std::string ladder_legend(const LadderReport& report);

/// The rungs under the roofs of DRAM, L1 and the math units, by their requests to global memory. Empty without times.
[[nodiscard]] std::string ladder_roofline(const LadderReport& report);

/// The palette's colour of a rung: CPU, FP32 cores, tensor cores.
[[nodiscard]] int color_of(const RungReport& rung);

}  // namespace jitgemm::cli
