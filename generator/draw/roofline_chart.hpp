#pragma once

#include "generator/draw/svg.hpp"

#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

/// The place of a kernel: flop per byte and TFLOP/s, both positive.
struct RooflinePoint {
    std::string label;  ///< beside the mark; may be empty
    double intensity = 0;
    double tflops = 0;
    int color = 0;
    Hint hint;
};

/// A sloping roof: the memory's bandwidth in TB/s.
struct MemoryRoof {
    double terabytes = 0;
    std::string name;
};

/// A level roof: the rate of a math unit in TFLOP/s.
struct PeakRoof {
    double tflops = 0;
    std::string name;
};

/// Williams, Waterman and Patterson, "Roofline", 2009. Both axes are logarithmic and say so.
struct RooflineChart {
    std::string x_axis;  ///< "flop per byte of ..."
    std::vector<RooflinePoint> points = {};
    std::vector<MemoryRoof> memory = {};
    std::vector<PeakRoof> peaks = {};
    std::optional<double> each_byte_once = {};  ///< intensity of a kernel that reads and writes every byte once
    std::string caption;
};

/// As an SVG figure; empty without points.
[[nodiscard]] std::string roofline_chart(const RooflineChart& chart);

}  // namespace jitgemm
