#pragma once

#include "generator/draw/bar_chart.hpp"
#include "runtime/cli/ladder/report.hpp"

#include <string>

namespace jitgemm::cli {

/// TFLOP/s of each rung with a line at cuBLASLt's; on the emulator a chart for each of instructions, sectors,
/// wavefronts.
[[nodiscard]] std::string ladder_bars(const LadderReport& report);

/// What the colours of the charts mean, as a line of HTML.
[[nodiscard]] std::string ladder_legend(const LadderReport& report);

/// The rungs under the roofs of DRAM, L1 and the math units, by what each asks of global memory; empty without times.
[[nodiscard]] std::string ladder_roofline(const LadderReport& report);

/// The palette's colour of a rung: CPU, FP32 cores, tensor cores.
[[nodiscard]] int color_of(const RungReport& rung);

}  // namespace jitgemm::cli
