#pragma once

#include "runtime/tuning/report/tune_figures.hpp"

#include <string>
#include <string_view>
#include <vector>

/// \file The report's charts. Each is an SVG figure, or empty if there is nothing to draw.

namespace jitgemm::tuning {

/// The number of problems by speed-up: a bar per range, from zero.
[[nodiscard]] std::string spread_chart(const std::vector<ProblemFigures>& problems, Speedup speedup,
                                       std::string_view over);

/// A bar per problem: the winner's speed over the heuristic's kernel or over cuBLASLt, with a line at equality.
[[nodiscard]] std::string speedup_chart(const std::vector<ProblemFigures>& problems, Speedup speedup,
                                        std::string_view over);

/// The winners under the roofs of the GPU's DRAM and math units, each byte of the problem counted once.
[[nodiscard]] std::string winners_roofline(const std::vector<ProblemFigures>& problems, const GpuModel& gpu);

/// A row per problem with a mark per candidate: its time over the best one's, up to three.
[[nodiscard]] std::string distribution_chart(const std::vector<ProblemFigures>& problems);

/// Predicted against measured time of every candidate, both logarithmic, with the line of equality.
[[nodiscard]] std::string prediction_chart(const std::vector<ProblemFigures>& problems, std::string_view time_source);

/// The values of a parameter below each other, each with the best and the median time relative to the problem's best.
[[nodiscard]] std::string effect_chart(const ParameterEffect& effect);

/// The meaning of effect_chart's two marks as a line of HTML.
[[nodiscard]] std::string effect_legend();

/// SM clock, power and temperature from the first round to the last, below each other.
[[nodiscard]] std::string readings_chart(const std::vector<DeviceReading>& readings);

}  // namespace jitgemm::tuning
