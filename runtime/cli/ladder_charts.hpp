#pragma once

#include "runtime/cli/ladder_report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// A bar of a chart on a logarithmic scale.
struct Bar {
    std::string name;
    std::optional<double> value;  ///< positive; else there is no bar, but `text` says why
    std::string text;             ///< behind the bar
    std::string hint;             ///< when pointed at
    int color = 0;                ///< of the palette
};

/// Bars below each other as an SVG figure; `mark`, where there is one, is a line across them all.
[[nodiscard]] std::string bar_chart(std::string_view title, const std::vector<Bar>& bars,
                                    const std::optional<Bar>& mark);

/// TFLOP/s of each rung with a line at cuBLASLt's; on the emulator a chart for each of instructions, sectors, wavefronts.
[[nodiscard]] std::string ladder_bars(const LadderReport& report);

/// The rungs under the roofs of DRAM, L1 and the math units, by what each asks of global memory; empty without times.
[[nodiscard]] std::string ladder_roofline(const LadderReport& report);

/// The palette's colour of a rung: CPU, FP32 cores, tensor cores.
[[nodiscard]] int color_of(const RungReport& rung);

}  // namespace jitgemm::cli
