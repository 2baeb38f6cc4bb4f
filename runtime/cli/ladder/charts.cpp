#include "runtime/cli/ladder/charts.hpp"

#include "generator/draw/legend.hpp"
#include "generator/draw/roofline_chart.hpp"
#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::cli {
namespace {

// ---- roofline -------------------------------------------------------------------------------------------------------

constexpr double kL1BytesPerCycle = 128;  // of one SM: a cache line per cycle

std::vector<RooflinePoint> points_of(const LadderReport& report) {
    std::vector<RooflinePoint> points;
    for (std::size_t i = 0; i < report.rungs.size(); ++i) {
        const RungReport& rung = report.rungs[i];
        const auto speed = tflops_of(report, rung);
        const auto intensity = kernel_intensity(report, rung);
        if (!speed || !intensity || rung.same_as) continue;
        const Hint hint{fmt::format("{} {}\n{} TFLOP/s at {:.2f} flop per byte", i, rung.rung.name, tflops_text(*speed),
                                    *intensity),
                        std::string(rung.rung.name)};
        points.push_back({std::to_string(i), *intensity, *speed, color_of(rung), hint});
    }
    return points;
}

PeakRoof peak_of(const LadderReport& report, MathUnit unit) {
    const double peak = report.roofline_of(unit).peak_flops / 1e12;
    return {peak, fmt::format("{} {:.0f} TFLOP/s", to_string(unit), peak)};
}

// ---- bars of a report -----------------------------------------------------------------------------------------------

std::string hint_of(const LadderReport& report, const RungReport& rung) {
    std::string hint = std::string(rung.rung.name);
    if (rung.time) hint += fmt::format("\n{} us", microseconds_text(rung.time->median_us));
    if (const auto share = share_of_peer(rung)) hint += fmt::format("\n{:.1f} % of cuBLASLt", 100 * *share);
    if (const auto share = share_of_peak(report, rung)) hint += fmt::format("\n{:.1f} % of peak", 100 * *share);
    return hint;
}

template <typename ValueOf, typename TextOf>
std::vector<Bar> bars_of(const LadderReport& report, const ValueOf& value_of, const TextOf& text_of) {
    std::vector<Bar> bars;
    for (std::size_t i = 0; i < report.rungs.size(); ++i) {
        const RungReport& rung = report.rungs[i];
        std::optional<double> value = value_of(rung);
        if (value && *value <= 0) value.reset();
        const std::string text = value                           ? text_of(*value)
                                 : rung.status == RungStatus::ok ? "none"
                                                                 : std::string(to_string(rung.status));
        bars.push_back({fmt::format("{} {}", i, rung.rung.name), value, text, hint_of(report, rung), color_of(rung)});
    }
    return bars;
}

std::optional<Bar> mark_of_peer(const LadderReport& report) {
    if (!report.peer.microseconds) return std::nullopt;
    const double speed = tflops(report.spec, *report.peer.microseconds);
    return Bar{"cuBLASLt", speed, tflops_text(speed), "", 0};
}

std::string speed_bars(const LadderReport& report) {
    const auto value = [&](const RungReport& rung) { return tflops_of(report, rung); };
    return bar_chart("Speed of each rung", "TFLOP/s", bars_of(report, value, tflops_text), mark_of_peer(report));
}

std::string count_bars(const LadderReport& report, std::string_view title, std::string_view axis,
                       std::uint64_t RungCounts::*count) {
    const auto value = [count](const RungReport& rung) {
        return rung.counts ? std::optional(static_cast<double>((*rung.counts).*count)) : std::nullopt;
    };
    const auto text = [](double number) { return fmt::format("{:.0f}", number); };
    return bar_chart(title, axis, bars_of(report, value, text), std::nullopt);
}

}  // namespace

int color_of(const RungReport& rung) {
    constexpr int kCpu = 16;
    constexpr int kFp32 = 8;
    constexpr int kTensor = 10;
    if (!rung.kernel) return kCpu + 1;
    return rung.kernel->unit == MathUnit::tensor_cores ? kTensor : kFp32;
}

std::string ladder_bars(const LadderReport& report) {
    if (!report.emulated) return speed_bars(report);
    return count_bars(report, "Instructions", "instructions executed by warps", &RungCounts::instructions) +
           count_bars(report, "Global memory", "sectors of 32 bytes", &RungCounts::sectors) +
           count_bars(report, "Shared memory", "wavefronts", &RungCounts::wavefronts);
}

std::string ladder_legend(const LadderReport& report) {
    std::vector<ColorMeaning> entries;
    const auto add = [&](const RungReport& rung, std::string_view text) {
        const int color = color_of(rung);
        if (std::ranges::find(entries, color, &ColorMeaning::color) == entries.end())
            entries.push_back({color, std::string(text)});
    };
    for (const RungReport& rung : report.rungs)
        add(rung, rung.kernel ? to_string(rung.kernel->unit) : std::string_view("CPU, or no kernel"));
    return legend(entries);
}

std::string ladder_roofline(const LadderReport& report) {
    RooflineChart chart{.x_axis = "flop per byte asked of global memory",
                        .points = points_of(report),
                        .peaks = {peak_of(report, MathUnit::fp32_cores)},
                        .caption =
                            "Numbers are those of the rungs. A rung above the DRAM roof profits from the caches: "
                            "several of its warps request the same bytes."};
    const Roofline fp32 = report.roofline_of(MathUnit::fp32_cores);
    const double l1 = kL1BytesPerCycle * report.gpu.sm_count * report.gpu.clock_mhz * 1e6 / 1e12;
    chart.memory = {{fp32.dram_bytes / 1e12, fmt::format("DRAM {:.1f} TB/s", fp32.dram_bytes / 1e12)},
                    {l1, fmt::format("L1 {:.1f} TB/s", l1)}};
    if (std::ranges::any_of(report.rungs, [](const RungReport& rung) {
            return rung.kernel && rung.kernel->unit == MathUnit::tensor_cores;
        }))
        chart.peaks.push_back(peak_of(report, MathUnit::tensor_cores));
    if (fp32.intensity > 0) chart.each_byte_once = fp32.intensity;
    return roofline_chart(chart);
}

}  // namespace jitgemm::cli
