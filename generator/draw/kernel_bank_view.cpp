#include "generator/draw/kernel_bank_view.hpp"

#include "generator/draw/palette.hpp"
#include "generator/draw/svg.hpp"
#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>

namespace jitgemm {
namespace {

constexpr int kLineBytes = kSharedBanks * kBankBytes;
constexpr int kSlots = kLineBytes / kChunkBytes;
constexpr int kLanesPerPhase = 8;
constexpr int kBankCellWidth = 44;
constexpr int kBankCellHeight = 19;
constexpr int kBankLeft = 52;
constexpr int kBankTop = 36;

/// Lane by byte offset of the chunk it names.
std::map<int, int> lanes_by_offset(const KernelSharedTile& tile) {
    std::map<int, int> lanes;
    for (int lane = 0; lane < kLanesPerPhase * tile.ldmatrix.x; ++lane)
        lanes.emplace(tile.lanes[static_cast<std::size_t>(lane)].offset, lane);
    return lanes;
}

/// Chunk of the tile, counted row by row, by its byte offset.
std::map<int, int> chunks_by_offset(const KernelSharedTile& tile) {
    std::map<int, int> chunks;
    for (std::size_t chunk = 0; chunk < tile.offset.size(); ++chunk)
        chunks.emplace(tile.offset[chunk], static_cast<int>(chunk));
    return chunks;
}

struct Line {
    const KernelSharedTile& tile;
    const std::map<int, int>& lanes;
    const std::map<int, int>& chunks;
    int number = 0;  // in the stage

    void draw(Svg& svg, int y) const {
        svg.text(kBankLeft - 6, y + 14, std::to_string(number * kLineBytes), "q e");
        for (int slot = 0; slot < kSlots; ++slot) draw_slot(svg, slot, y);
    }

    void draw_slot(Svg& svg, int slot, int y) const {
        const int offset = number * kLineBytes + slot * kChunkBytes;
        const Box box{kBankLeft + slot * kBankCellWidth, y, kBankCellWidth, kBankCellHeight};
        const auto chunk = chunks.find(offset);
        if (chunk == chunks.end()) return svg.box(box, "p c", {fmt::format("byte {}: padding", offset), {}});
        const std::string place =
            fmt::format("byte {}: row {}, chunk {}", offset, chunk->second / tile.chunks, chunk->second % tile.chunks);
        const auto lane = lanes.find(offset);
        if (lane == lanes.end()) return svg.box(box, "p c", {place, {}});
        const int phase = lane->second / kLanesPerPhase;
        svg.box(box, "p " + color_class(phase + kLanesPerPhase),
                {fmt::format("{}\nread by lane {} in phase {}", place, lane->second, phase),
                 fmt::format("phase {}", phase)},
                fmt::format("L{}", lane->second));
    }
};

/// Lines that hold something the lanes read, in order; the others are left out.
std::vector<int> lines_of(const std::map<int, int>& lanes) {
    std::vector<int> lines;
    for (const auto& [offset, lane] : lanes) {
        const int line = offset / kLineBytes;
        if (lines.empty() || lines.back() != line) lines.push_back(line);
    }
    return lines;
}

}  // namespace

std::string bank_view_html(const KernelSharedTile& tile) {
    const std::map<int, int> lanes = lanes_by_offset(tile);
    const std::map<int, int> chunks = chunks_by_offset(tile);
    const std::vector<int> lines = lines_of(lanes);
    Svg svg(kBankLeft + kSlots * kBankCellWidth + 2, kBankTop + static_cast<int>(lines.size()) * kBankCellHeight + 2);
    svg.text(kBankLeft, 11, "banks →", "q");
    svg.text(kBankLeft - 6, kBankTop - 6, "byte", "q e");
    for (int slot = 0; slot < kSlots; ++slot) {
        const int bank = slot * kChunkBytes / kBankBytes;
        svg.text(kBankLeft + slot * kBankCellWidth + kBankCellWidth / 2, kBankTop - 6,
                 fmt::format("{}–{}", bank, bank + 3), "q m");
    }
    for (std::size_t line = 0; line < lines.size(); ++line)
        Line{tile, lanes, chunks, lines[line]}.draw(svg, kBankTop + static_cast<int>(line) * kBankCellHeight);
    return svg.figure(
        fmt::format("{} as the banks see it: the lines that this ldmatrix reads, a colour per phase of eight "
                    "lanes. Without conflicts no colour stands twice in a column.",
                    to_string(tile.operand)),
        false);
}

}  // namespace jitgemm
