#include "generator/draw/kernel_shared_tile.hpp"

#include "generator/draw/palette.hpp"
#include "generator/draw/svg.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kElementsPerChunk = 8;
constexpr int kLeastRows = 16;  // drawn: every swizzle repeats after eight
constexpr int kTileCellWidth = 34;
constexpr int kTileCellHeight = 19;
constexpr int kTileLeft = 40;
constexpr int kTileTop = 36;

char row_letter(const KernelSharedTile& tile) {
    if (!tile.k_major) return 'k';
    return tile.operand == Operand::a ? 'm' : 'n';
}

char column_letter(const KernelSharedTile& tile) {
    if (tile.k_major) return 'k';
    return tile.operand == Operand::a ? 'm' : 'n';
}

/// Enough for the pattern and for all lanes.
int shown_rows(const KernelSharedTile& tile) {
    const int last = std::ranges::max_element(tile.lanes, {}, &LaneChunk::row)->row;
    return std::min(tile.rows, std::max(kLeastRows, last + 1));
}

/// "13", or "13 29" where lanes repeat a chunk, by (row, chunk).
std::map<std::pair<int, int>, std::vector<int>> lanes_by_chunk(const KernelSharedTile& tile) {
    std::map<std::pair<int, int>, std::vector<int>> lanes;
    for (int lane = 0; lane < kElementsPerChunk * tile.ldmatrix.x; ++lane) {
        const LaneChunk& chunk = tile.lanes[static_cast<std::size_t>(lane)];
        lanes[{chunk.row, chunk.chunk}].push_back(lane);
    }
    return lanes;
}

std::string hint_of(const KernelSharedTile& tile, int row, int chunk, const std::vector<int>& lanes) {
    const int offset = tile.offset_of(row, chunk);
    const int bank = first_bank(offset);
    std::string hint =
        fmt::format("{} {}, {} {}–{}\nbyte {} of the stage: banks {}–{}", row_letter(tile), row, column_letter(tile),
                    chunk * kElementsPerChunk, chunk * kElementsPerChunk + 7, offset, bank, bank + 3);
    if (!lanes.empty())
        hint += fmt::format("\nrow of lane {} in the first ldmatrix (matrix {})", lanes.front(), lanes.front() / 8);
    return hint;
}

void draw_axes(Svg& svg, const KernelSharedTile& tile) {
    svg.text(kTileLeft, 11, fmt::format("{}, chunks of {} →", column_letter(tile), kElementsPerChunk), "q");
    svg.text(0, kTileTop - 6, fmt::format("{} ↓", row_letter(tile)), "q");
    for (int chunk = 0; chunk < tile.chunks; ++chunk)
        svg.text(kTileLeft + chunk * kTileCellWidth + kTileCellWidth / 2, kTileTop - 6,
                 std::to_string(chunk * kElementsPerChunk), "q m");
    for (int row = 0; row < shown_rows(tile); ++row)
        svg.text(kTileLeft - 6, kTileTop + row * kTileCellHeight + 14, std::to_string(row), "q e");
}

std::string caption_of(const KernelSharedTile& tile) {
    const std::string more =
        tile.rows > shown_rows(tile) ? fmt::format("; rows {}–{} repeat this", shown_rows(tile), tile.rows - 1) : "";
    const std::string place = tile.span_bytes > 0 ? fmt::format("swizzled within {} bytes", tile.span_bytes)
                                                  : fmt::format("rows padded to {} bytes", tile.pitch_bytes);
    return fmt::format("{}: {} rows of {} chunks, {}; ldmatrix.x{}{} takes {} wavefronts of at least {}{}",
                       to_string(tile.operand), tile.rows, tile.chunks, place, tile.ldmatrix.x,
                       tile.ldmatrix.trans ? ".trans" : "", tile.wavefronts.count, tile.wavefronts.ideal, more);
}

void place_lanes(KernelSharedTile& tile, const KernelAnatomy& anatomy, const OperandGeometry& operand) {
    const LdmatrixPipeline& pipeline = *anatomy.ldmatrix_pipeline;
    const TileShape atoms{anatomy.warp.m / anatomy.mma.m, anatomy.warp.n / anatomy.mma.n, 1};
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        const Coordinate first = ldmatrix_lane_row(*pipeline.atom, tile.operand, atoms, tile.ldmatrix, 0, lane);
        const int row = tile.k_major ? first.row : first.column;
        const int chunk = (tile.k_major ? first.column : first.row) / kElementsPerChunk;
        tile.lanes.push_back({row, chunk, chunk_offset(operand, pipeline.shared_layout, row, chunk)});
    }
    tile.wavefronts = matrix_wavefronts(
        tile.ldmatrix.x, lane_addresses([&](int lane) { return tile.lanes[static_cast<std::size_t>(lane)].offset; }));
}

}  // namespace

int first_bank(int offset) { return offset / kBankBytes % kSharedBanks; }

KernelSharedTile kernel_shared_tile(Operand operand, const KernelAnatomy& anatomy) {
    const LdmatrixPipeline& pipeline = *anatomy.ldmatrix_pipeline;
    const bool is_a = operand == Operand::a;
    const OperandGeometry& shared = is_a ? pipeline.a : pipeline.b;
    KernelSharedTile tile;
    tile.operand = operand;
    tile.k_major = shared.k_major;
    tile.rows = shared.tile_rows;
    tile.chunks = shared.row_bytes / kChunkBytes;
    tile.pitch_bytes = shared.pitch_bytes;
    tile.span_bytes = pipeline.shared_layout == SharedLayout::swizzle ? swizzle_span(shared.row_bytes) : 0;
    for (int row = 0; row < tile.rows; ++row) {
        for (int chunk = 0; chunk < tile.chunks; ++chunk)
            tile.offset.push_back(chunk_offset(shared, pipeline.shared_layout, row, chunk));
    }
    tile.ldmatrix = *anatomy.operands[is_a ? 0 : 1].ldmatrix;
    place_lanes(tile, anatomy, shared);
    return tile;
}

std::string shared_tile_html(const KernelSharedTile& tile) {
    const auto lanes = lanes_by_chunk(tile);
    Svg svg(kTileLeft + tile.chunks * kTileCellWidth + 2, kTileTop + shown_rows(tile) * kTileCellHeight + 2);
    draw_axes(svg, tile);
    for (const bool marked : {false, true}) {  // outlines lie on top of their neighbours
        for (int row = 0; row < shown_rows(tile); ++row) {
            for (int chunk = 0; chunk < tile.chunks; ++chunk) {
                const auto found = lanes.find({row, chunk});
                if ((found != lanes.end()) != marked) continue;
                const int bank = first_bank(tile.offset_of(row, chunk));
                const Hint hint{hint_of(tile, row, chunk, marked ? found->second : std::vector<int>{}),
                                fmt::format("bank {}", bank)};
                svg.box({kTileLeft + chunk * kTileCellWidth, kTileTop + row * kTileCellHeight, kTileCellWidth,
                         kTileCellHeight},
                        (marked ? "o " : "p ") + color_class(bank / 4), hint,
                        marked ? fmt::format("L{}", found->second.front()) : "");
            }
        }
    }
    return svg.figure(caption_of(tile), false);
}

}  // namespace jitgemm
