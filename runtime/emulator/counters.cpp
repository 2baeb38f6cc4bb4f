#include "runtime/emulator/counters.hpp"

#include "runtime/emulator/program.hpp"

#include <map>
#include <tuple>

namespace jitgemm::emulator {
namespace {

std::string file_of(const Program& program, const ptx::SourceLocation& location) {
    for (const ptx::SourceFile& file : program.module().files) {
        if (file.number == location.file) return file.path;
    }
    return {};
}

}  // namespace

std::string_view to_string(InstructionKind kind) {
    constexpr std::array<std::string_view, kInstructionKinds> kNames{
        "move",      "integer", "logic",       "compare",      "convert",     "float32",      "float64",
        "half",      "special", "global load", "global store", "shared load", "shared store", "local",
        "parameter", "atomic",  "async copy",  "async wait",   "bulk copy",   "matrix load",  "matrix store",
        "tensor",    "warp",    "barrier",     "control"};
    return kNames.at(static_cast<std::size_t>(kind));
}

Tally& Tally::operator+=(const Tally& other) {
    warps += other.warps;
    lanes += other.lanes;
    global_read_bytes += other.global_read_bytes;
    global_written_bytes += other.global_written_bytes;
    sectors += other.sectors;
    l2_sectors += other.l2_sectors;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    peer_bytes += other.peer_bytes;
    operations += other.operations;
    return *this;
}

Counters& Counters::operator+=(const Counters& other) {
    total += other.total;
    for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] += other.kinds[i];
    lines.insert(lines.end(), other.lines.begin(), other.lines.end());
    blocks += other.blocks;
    return *this;
}

std::vector<LineTally> Counters::by_source_line() const {
    std::map<std::tuple<std::string, int, InstructionKind>, LineTally> merged;
    for (const LineTally& line : lines) {
        const auto [entry, fresh] = merged.try_emplace({line.file, line.source_line, line.kind}, line);
        if (!fresh) entry->second.tally += line.tally;
    }
    std::vector<LineTally> result;
    result.reserve(merged.size());
    for (auto& [key, line] : merged) result.push_back(std::move(line));
    return result;
}

Counters make_counters(const Program& program, const std::vector<Tally>& tallies, std::uint64_t blocks) {
    Counters counters;
    counters.blocks = blocks;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        if (tallies[i].warps == 0) continue;
        const Instruction& instruction = program.code()[i];
        counters.total += tallies[i];
        counters.kinds.at(static_cast<std::size_t>(instruction.kind)) += tallies[i];
        counters.lines.push_back({instruction.source->line, file_of(program, instruction.source->location),
                                  instruction.source->location.line, instruction.kind, instruction.source->text,
                                  tallies[i]});
    }
    return counters;
}

}  // namespace jitgemm::emulator
