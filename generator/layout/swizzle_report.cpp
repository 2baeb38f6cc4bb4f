#include "generator/layout/swizzle_report.hpp"

#include "generator/layout/copy_atom.hpp"
#include "generator/layout/swizzle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace jitgemm {
namespace {

constexpr int kLineBytes = kSharedBanks * kBankBytes;
constexpr std::int64_t kSharedMemory = std::int64_t{228} * 1024;

void check_tile(const SharedTile& tile, int vector_bytes) {
    if (tile.rows < 1 || tile.columns < 1)
        throw LayoutError(fmt::format("tile {}x{}: an extent is at least 1", tile.rows, tile.columns));
    const std::int64_t bytes = std::int64_t{tile.rows} * tile.columns * tile.element_bytes;
    if (bytes > kSharedMemory)
        throw LayoutError(fmt::format("tile {}x{} takes {} bytes: shared memory has at most {}", tile.rows,
                                      tile.columns, bytes, kSharedMemory));
    if (vector_bytes != 4 && vector_bytes != 8 && vector_bytes != 16)
        throw LayoutError(fmt::format("vector {}: a copy moves 4, 8 or 16 bytes", vector_bytes));
    if (tile.pitch_bytes() % vector_bytes != 0)
        throw LayoutError(
            fmt::format("rows of {} bytes do not divide into vectors of {}", tile.pitch_bytes(), vector_bytes));
}

/// Whether every run of that many bytes stays together and aligned.
bool keeps_whole(const Swizzle& swizzle, const SharedTile& tile, int bytes) {
    return swizzle.bits() == 0 || (std::int64_t{1} << swizzle.base()) * tile.element_bytes >= bytes;
}

std::string torn(const Swizzle& swizzle, int bytes) {
    return fmt::format("{} tears vectors of {} bytes apart", to_string(swizzle), bytes);
}

void add(TileTraffic& traffic, const Wavefronts& wavefronts) {
    traffic.wavefronts += wavefronts.count;
    traffic.ideal += wavefronts.ideal;
}

TileTraffic load_traffic(const Swizzle& swizzle, const SharedTile& tile) {
    TileTraffic traffic;
    const int chunk = kChunkBytes / tile.element_bytes;
    if (tile.columns % chunk != 0 || tile.rows % kMatrixRows != 0)
        traffic.refusal = fmt::format("ldmatrix loads 8 rows of 16 bytes: {} rows of {} bytes do not divide", tile.rows,
                                      tile.pitch_bytes());
    else if (!keeps_whole(swizzle, tile, kChunkBytes))
        traffic.refusal = torn(swizzle, kChunkBytes);
    if (!traffic.refusal.empty()) return traffic;
    for (int row = 0; row < tile.rows; row += kMatrixRows) {
        for (int column = 0; column < tile.columns; column += chunk) {
            const auto address = [&](int lane) {
                return static_cast<int>(swizzled_byte(swizzle, tile, row + lane % kMatrixRows, column));
            };
            add(traffic, matrix_wavefronts(1, lane_addresses(address)));
        }
    }
    return traffic;
}

TileTraffic store_traffic(const Swizzle& swizzle, const SharedTile& tile, int vector_bytes) {
    TileTraffic traffic;
    if (!keeps_whole(swizzle, tile, vector_bytes)) {
        traffic.refusal = torn(swizzle, vector_bytes);
        return traffic;
    }
    const int per_row = tile.pitch_bytes() / vector_bytes;
    const int vectors = tile.rows * per_row;
    for (int first = 0; first < vectors; first += kWarpLanes) {
        const auto address = [&](int lane) {
            const int vector = first + lane;
            if (vector >= vectors) return kInactiveLane;
            const int column = vector % per_row * vector_bytes / tile.element_bytes;
            return static_cast<int>(swizzled_byte(swizzle, tile, vector / per_row, column));
        };
        add(traffic, vector_wavefronts(vector_bytes, lane_addresses(address)));
    }
    return traffic;
}

std::string reason_for(const SwizzleSuggestion& suggestion, const SharedTile& tile) {
    const int pitch = tile.pitch_bytes();
    const TileTraffic& plain = suggestion.trials.front().report.load;
    if (!suggestion.best)
        return fmt::format(
            "No swizzle of whole chunks removes all conflicts: rows of {} bytes are no power of two apart. "
            "Pad the rows by 16 bytes, or choose 16, 32, 64 or a power of two from 128 bytes on.",
            pitch);
    if (suggestion.best->bits() == 0)
        return fmt::format(
            "Rows are {} bytes apart, so that 8 of them at one chunk already lie in different banks: "
            "nothing to permute.",
            pitch);
    const int groups = 1 << suggestion.best->bits();
    return fmt::format(
        "Rows are {} bytes apart: without swizzle an ldmatrix phase of 8 rows takes {} wavefronts in place "
        "of 1. XOR of {} bits of the row into the chunk of 16 bytes spreads them over {} chunk positions of "
        "each {} bytes; a row's own chunks only trade places, so stores along it stay conflict-free.",
        pitch, plain.ideal == 0 ? 0 : plain.wavefronts / plain.ideal, suggestion.best->bits(), groups,
        std::min(pitch, kLineBytes));
}

int log2_of(int power_of_two) { return std::countr_zero(static_cast<unsigned>(power_of_two)); }

/// Row bits that distinguish lines of 128 bytes lie this many bits above those of the chunk.
int shift_for(int pitch_bytes) {
    return std::max(3, log2_of(static_cast<int>(std::bit_floor(static_cast<unsigned>(pitch_bytes)))) - 4);
}

}  // namespace

bool SwizzleReport::conflict_free() const {
    return load.refusal.empty() && store.refusal.empty() && load.conflicts() == 0 && store.conflicts() == 0;
}

std::int64_t swizzled_byte(const Swizzle& swizzle, const SharedTile& tile, int row, int column) {
    return swizzle(std::int64_t{row} * tile.columns + column) * tile.element_bytes;
}

SwizzleReport report_swizzle(const Swizzle& swizzle, const SharedTile& tile, int vector_bytes) {
    check_tile(tile, vector_bytes);
    return {load_traffic(swizzle, tile), store_traffic(swizzle, tile, vector_bytes)};
}

SwizzleSuggestion suggest_swizzle(const SharedTile& tile, int vector_bytes) {
    constexpr int kMostBits = 3;  // 8 chunks of 16 bytes are a line of all banks
    check_tile(tile, vector_bytes);
    SwizzleSuggestion suggestion;
    const int base = log2_of(kChunkBytes / tile.element_bytes);
    for (int bits = 0; bits <= kMostBits && !suggestion.best; ++bits) {
        const Swizzle swizzle(bits, base, shift_for(tile.pitch_bytes()));
        suggestion.trials.push_back({swizzle, report_swizzle(swizzle, tile, vector_bytes)});
        if (!suggestion.trials.back().report.load.refusal.empty())
            throw LayoutError(suggestion.trials.back().report.load.refusal);
        if (suggestion.trials.back().report.conflict_free()) suggestion.best = swizzle;
    }
    suggestion.why = reason_for(suggestion, tile);
    return suggestion;
}

}  // namespace jitgemm
