#pragma once

#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/composed_layout.hpp"

#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

/// A row-major tile in shared memory, without padding.
struct SharedTile {
    int rows = 0;
    int columns = 0;
    int element_bytes = 2;
    [[nodiscard]] int pitch_bytes() const { return columns * element_bytes; }
};

/// Wavefronts of moving the whole tile once.
struct TileTraffic {
    std::int64_t wavefronts = 0;
    std::int64_t ideal = 0;
    std::string refusal;  ///< why it can't be moved so at all; empty where it can
    [[nodiscard]] std::int64_t conflicts() const { return wavefronts - ideal; }
};

/// What a swizzle of element indices does to a tile's accesses.
struct SwizzleReport {
    TileTraffic load;   ///< ldmatrix: 8 rows of one 16-byte chunk per phase
    TileTraffic store;  ///< vectors stored one after the other along the rows, 32 per warp (cp.async, st.shared)
    [[nodiscard]] bool conflict_free() const;
};

/// Throws LayoutError where the tile is empty or larger than the 228 KB of an SM's shared memory, an element has no
/// whole bytes, or `vector_bytes` is not 4, 8 or 16, or does not divide the rows.
[[nodiscard]] SwizzleReport report_swizzle(const Swizzle& swizzle, const SharedTile& tile, int vector_bytes);

/// The byte offset in shared memory of an element of a tile.
[[nodiscard]] std::int64_t swizzled_byte(const Swizzle& swizzle, const SharedTile& tile, int row, int column);

struct SwizzleTrial {
    Swizzle swizzle;
    SwizzleReport report;
};

/// Swizzles that keep 16-byte chunks whole, from the one that XORs the fewest bits on.
struct SwizzleSuggestion {
    std::optional<Swizzle> best;       ///< the first free of conflicts
    std::vector<SwizzleTrial> trials;  ///< in the order tried, the best one last
    std::string why;                   ///< one or two sentences, with the numbers
};
[[nodiscard]] SwizzleSuggestion suggest_swizzle(const SharedTile& tile, int vector_bytes);

}  // namespace jitgemm
