#include "runtime/cli/ladder/report.hpp"

#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm::cli {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames{"ok", "wrong", "refused", "skipped", "failed"};
constexpr double kMegabyte = 1e6;
constexpr const char* kIndent = "    ";
constexpr std::size_t kLineWidth = 104;
constexpr std::string_view kUnknown = "-";

std::string number_text(std::optional<double> value, int decimals, std::string_view unit = "") {
    return value ? fmt::format("{:.{}f}{}", *value, decimals, unit) : std::string(kUnknown);
}

std::string percent_text(std::optional<double> share) {
    return share ? fmt::format("{:.1f} %", 100 * *share) : std::string(kUnknown);
}

std::string count_text(std::uint64_t value) { return value == 0 ? std::string(kUnknown) : std::to_string(value); }

/// Words in lines of kLineWidth, each indented.
std::string wrapped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        if (end == std::string_view::npos) end = text.size();
        if (end > kLineWidth) end = text.rfind(' ', kLineWidth);
        if (end == std::string_view::npos || end == 0) end = std::min(text.find(' ', 1), text.size());
        result += fmt::format("{}{}\n", kIndent, text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

std::string time_text(const RungReport& rung) {
    if (!rung.time) return std::string(kUnknown);
    return (rung.time->extrapolated ? "~" : "") + microseconds_text(rung.time->median_us);
}

std::string conflicts_text(const RungReport& rung) {
    return rung.kernel ? number_text(rung.kernel->conflicts, 2, "x") : std::string(kUnknown);
}

std::string megabytes_text(const RungReport& rung) {
    return rung.kernel ? number_text(rung.kernel->global_bytes / kMegabyte, 1) : std::string(kUnknown);
}

std::string registers_text(const RungReport& rung) {
    return rung.kernel ? count_text(static_cast<std::uint64_t>(rung.kernel->registers)) : std::string(kUnknown);
}

std::string speed_text(const LadderReport& report, const RungReport& rung) {
    const auto speed = tflops_of(report, rung);
    return speed ? tflops_text(*speed) : std::string(kUnknown);
}

std::string measured_row(const LadderReport& report, const RungReport& rung) {
    return fmt::format("{:>13} {:>9} {:>9} {:>8} {:>10} {:>11} {:>10} {:>5}", time_text(rung), speed_text(report, rung),
                       percent_text(share_of_peer(rung)), percent_text(share_of_peak(report, rung)),
                       number_text(kernel_intensity(report, rung), 2), megabytes_text(rung), conflicts_text(rung),
                       registers_text(rung));
}

std::string counted_row(const LadderReport& report, const RungReport& rung) {
    const RungCounts counts = rung.counts.value_or(RungCounts{});
    return fmt::format("{:>13} {:>12} {:>11} {:>10} {:>12} {:>10} {:>10}", count_text(counts.instructions),
                       count_text(counts.sectors), count_text(counts.wavefronts), conflicts_text(rung),
                       count_text(counts.tensor_operations), number_text(kernel_intensity(report, rung), 2),
                       megabytes_text(rung));
}

std::string columns(bool emulated) {
    const std::string first = fmt::format("{:>2} {:<25}", "#", "rung");
    if (emulated)
        return first + fmt::format("{:>13} {:>12} {:>11} {:>10} {:>12} {:>10} {:>10}\n", "instructions", "sectors",
                                   "wavefronts", "conflicts", "tensor ops", "flop/byte", "global MB");
    return first + fmt::format("{:>13} {:>9} {:>9} {:>8} {:>10} {:>11} {:>10} {:>5}\n", "time us", "TFLOP/s",
                               "cuBLASLt", "peak", "flop/byte", "global MB", "conflicts", "regs");
}

std::string peer_line(const LadderReport& report) {
    if (report.emulated) return "counts of one launch in place of times\n";
    if (!report.peer.microseconds) return fmt::format("no cuBLASLt to compare with: {}\n", report.peer.reason);
    return fmt::format("cuBLASLt's best: {} us, {} TFLOP/s ({})\n", microseconds_text(*report.peer.microseconds),
                       tflops_text(tflops(report.spec, *report.peer.microseconds)), report.peer.algorithm);
}

bool has_extrapolated(const LadderReport& report) {
    return std::ranges::any_of(report.rungs,
                               [](const RungReport& rung) { return rung.time && rung.time->extrapolated; });
}

}  // namespace

std::string_view to_string(RungStatus status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

std::optional<double> tflops_of(const LadderReport& report, const RungReport& rung) {
    if (!rung.time) return std::nullopt;
    return tflops(report.spec, rung.time->median_us);
}

std::optional<double> share_of_peer(const RungReport& rung) {
    if (!rung.time || !rung.peer_us || rung.time->median_us <= 0) return std::nullopt;
    return *rung.peer_us / rung.time->median_us;
}

std::optional<double> share_of_peak(const LadderReport& report, const RungReport& rung) {
    if (!rung.time || !rung.kernel || rung.time->median_us <= 0) return std::nullopt;
    const double flops_per_second = flops(report.spec) / rung.time->median_us * 1e6;
    return flops_per_second / report.roofline_of(rung.kernel->unit).peak_flops;
}

std::optional<double> kernel_intensity(const LadderReport& report, const RungReport& rung) {
    if (!rung.kernel || rung.kernel->global_bytes <= 0) return std::nullopt;
    return flops(report.spec) / rung.kernel->global_bytes;
}

std::string microseconds_text(double microseconds) {
    return fmt::format("{:.{}f}", microseconds, microseconds < 1e5 ? 2 : 0);
}

std::string tflops_text(double tflops) { return fmt::format("{:.{}f}", tflops, tflops < 0.1 ? 4 : 2); }

std::string device_text(const LadderReport& report) {
    return report.emulated ? report.device : fmt::format("{} ({})", report.device, report.gpu.arch->name);
}

std::string ladder_heading(const LadderReport& report) {
    const Roofline line = report.roofline_of(MathUnit::fp32_cores);
    return fmt::format("{} on {}: {:.3f} GFLOP, {:.1f} MB at least, {:.1f} flop/byte\n{}\n", shape_text(report.spec),
                       device_text(report), line.flops / 1e9, line.bytes / kMegabyte, line.intensity,
                       peer_line(report)) +
           columns(report.emulated);
}

std::string ladder_row(const LadderReport& report, std::size_t index) {
    const RungReport& rung = report.rungs.at(index);
    std::string text = fmt::format("{:>2} {:<25}", index, rung.rung.name);
    const bool has_figures = rung.time || rung.kernel;
    if (has_figures)
        text += report.emulated ? counted_row(report, rung) : measured_row(report, rung);
    else
        text += fmt::format(" {}", to_string(rung.status));
    text += "\n" + wrapped(rung.rung.sentence);
    if (rung.same_as) text += wrapped(fmt::format("It is the kernel of rung {}.", *rung.same_as));
    if (!rung.reason.empty()) {
        const bool said = rung.status == RungStatus::ok || !has_figures;
        text += wrapped(said ? rung.reason : fmt::format("{}: {}", to_string(rung.status), rung.reason));
    }
    return text;
}

std::string ladder_footing(const LadderReport& report) {
    std::string text = "\n";
    if (has_extrapolated(report))
        text += "~ extrapolated from the part of D that the time limit allowed (--cpu-limit)\n";
    text +=
        fmt::format("global MB: bytes that the warps request from global memory, {}; flop/byte is computed from them\n",
                    report.emulated ? "counted in sectors of 32 bytes" : "computed from the tiles");
    text += "conflicts: wavefronts of shared memory over the least possible number\n";
    return report.interrupted ? text + "interrupted: the later rungs were not run\n" : text;
}

}  // namespace jitgemm::cli
