#include "runtime/cli/emulated_run.hpp"

#include "generator/base/sector.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace jitgemm::cli {
namespace {

using emulator::Counters;
using emulator::InstructionKind;
using emulator::LineTally;
using emulator::Tally;

std::vector<InstructionKind> kinds() {
    std::vector<InstructionKind> all;
    for (std::size_t i = 0; i < emulator::kInstructionKinds; ++i) all.push_back(static_cast<InstructionKind>(i));
    return all;
}

bool reaches_global(InstructionKind kind) {
    return kind == InstructionKind::global_load || kind == InstructionKind::global_store ||
           kind == InstructionKind::async_copy || kind == InstructionKind::bulk_copy || kind == InstructionKind::atomic;
}

/// Requests of warps to global memory.
std::uint64_t global_requests(const Counters& counters) {
    std::uint64_t sum = 0;
    for (const InstructionKind kind : kinds()) {
        if (reaches_global(kind)) sum += counters.of(kind).warps;
    }
    return sum;
}

double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Lines that touch memory; the rest is told by kind.
std::vector<LineTally> memory_lines(const Counters& counters) {
    std::vector<LineTally> lines = counters.by_source_line();
    std::erase_if(lines, [](const LineTally& line) { return line.tally.sectors == 0 && line.tally.wavefronts == 0; });
    return lines;
}

int file_line(const LineTally& line, const GemmKernel& kernel) {
    return line.source_line == 0 ? 0 : line.source_line + banner_lines(kernel);
}

Json tally_json(const Tally& tally) {
    return {{"warps", tally.warps},
            {"lanes", tally.lanes},
            {"global_read_bytes", tally.global_read_bytes},
            {"global_written_bytes", tally.global_written_bytes},
            {"sectors", tally.sectors},
            {"l2_sectors", tally.l2_sectors},
            {"wavefronts", tally.wavefronts},
            {"ideal_wavefronts", tally.ideal_wavefronts},
            {"peer_bytes", tally.peer_bytes},
            {"operations", tally.operations}};
}

Json kinds_json(const Counters& counters) {
    Json json = Json::object();
    for (const InstructionKind kind : kinds()) {
        if (counters.of(kind).warps != 0) json[std::string(to_string(kind))] = tally_json(counters.of(kind));
    }
    return json;
}

Json lines_json(const Counters& counters, const GemmKernel& kernel) {
    Json json = Json::array();
    for (const LineTally& line : memory_lines(counters)) {
        Json row{{"line", file_line(line, kernel)}, {"kind", to_string(line.kind)}, {"instruction", line.text}};
        row.update(tally_json(line.tally));
        json.push_back(std::move(row));
    }
    return json;
}

Json time_json(const EmulatedTime& time) {
    return {{"total_us", time.total_us},   {"issue_us", time.issue_us}, {"math_unit_us", time.math_unit_us},
            {"shared_us", time.shared_us}, {"l2_us", time.l2_us},       {"dram_us", time.dram_us}};
}

std::string kinds_text(const Counters& counters) {
    std::string text = fmt::format("{:<14} {:>14} {:>16}\n", "instructions", "by warps", "by lanes");
    for (const InstructionKind kind : kinds()) {
        const Tally& tally = counters.of(kind);
        if (tally.warps != 0) text += fmt::format("{:<14} {:>14} {:>16}\n", to_string(kind), tally.warps, tally.lanes);
    }
    return text + fmt::format("{:<14} {:>14} {:>16}\n", "all", counters.total.warps, counters.total.lanes);
}

std::string memory_text(const Counters& counters) {
    const Tally& all = counters.total;
    const std::uint64_t requests = global_requests(counters);
    std::string text = fmt::format(
        "\nglobal   {} bytes read, {} written; {} requests, {:.2f} sectors each, {:.0f} % of a "
        "sector's bytes asked for\n",
        all.global_read_bytes, all.global_written_bytes, requests, ratio(all.sectors, requests),
        100 * static_cast<double>(all.global_read_bytes + all.global_written_bytes) /
            std::max(1.0, kSectorBytes * static_cast<double>(all.sectors)));
    text += fmt::format("shared   {} wavefronts, {} of them bank conflicts\n", all.wavefronts,
                        all.wavefronts - all.ideal_wavefronts);
    if (all.peer_bytes != 0) text += fmt::format("cluster  {} bytes of other blocks' shared memory\n", all.peer_bytes);
    return text + fmt::format("tensor   {} operations in {} instructions; {} barriers\n\n", all.operations,
                              counters.of(InstructionKind::tensor).warps, counters.of(InstructionKind::barrier).warps);
}

std::string lines_text(const Counters& counters, const GemmKernel& kernel) {
    std::string text = fmt::format("{:>5} {:<13} {:>10} {:>10} {:>12} {:>10}  {}\n", "line", "kind", "warps", "sectors",
                                   "wavefronts", "conflicts", "first instruction");
    for (const LineTally& line : memory_lines(counters)) {
        const Tally& tally = line.tally;
        text += fmt::format("{:>5} {:<13} {:>10} {:>10} {:>12} {:>10}  {}\n", file_line(line, kernel),
                            to_string(line.kind), tally.warps, tally.sectors, tally.wavefronts,
                            tally.wavefronts - tally.ideal_wavefronts, line.text);
    }
    return text;
}

}  // namespace

std::string profile_text(const EmulatedRun& run, const GemmKernel& kernel) {
    const EmulatedTime& time = run.time;
    return fmt::format("\n{} blocks\n\n", run.counters.blocks) + kinds_text(run.counters) + memory_text(run.counters) +
           lines_text(run.counters, kernel) +
           fmt::format("\nestimate {:.2f} us: issue {:.2f}, tensor {:.2f}, shared {:.2f}, L2 {:.2f}, DRAM {:.2f}\n",
                       time.total_us, time.issue_us, time.math_unit_us, time.shared_us, time.l2_us, time.dram_us);
}

Json profile_json(const EmulatedRun& run, const GemmKernel& kernel) {
    const std::uint64_t requests = global_requests(run.counters);
    const Tally& all = run.counters.total;
    return {{"blocks", run.counters.blocks},
            {"total", tally_json(all)},
            {"kinds", kinds_json(run.counters)},
            {"global_requests", requests},
            {"sectors_per_request", ratio(all.sectors, requests)},
            {"bank_conflicts", all.wavefronts - all.ideal_wavefronts},
            {"barriers", run.counters.of(InstructionKind::barrier).warps},
            {"lines", lines_json(run.counters, kernel)},
            {"estimate", time_json(run.time)}};
}

}  // namespace jitgemm::cli
