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

/// Wavefronts of moving a whole tile once.
struct TileTraffic {
    std::int64_t wavefronts = 0;
    std::int64_t ideal = 0;
    std::string refusal;  ///< why the tile cannot be moved in this way; empty if it can
    [[nodiscard]] std::int64_t conflicts() const { return wavefronts - ideal; }
};

/// The effect of a swizzle of element indices on a tile's accesses.
struct SwizzleReport {
    TileTraffic load;   ///< ldmatrix: 8 rows of one 16-byte chunk per phase
    TileTraffic store;  ///< vectors stored along the rows, 32 per warp (cp.async, st.shared)
    [[nodiscard]] bool conflict_free() const;
};

/// Throws LayoutError if the tile is empty or larger than the 228 KB of an SM's shared memory, if an element has no
/// whole bytes, or if `vector_bytes` is not 4, 8 or 16 or does not divide the rows.
[[nodiscard]] SwizzleReport report_swizzle(const Swizzle& swizzle, const SharedTile& tile, int vector_bytes);

/// The byte offset in shared memory of an element of a tile.
[[nodiscard]] std::int64_t swizzled_byte(const Swizzle& swizzle, const SharedTile& tile, int row, int column);

struct SwizzleTrial {
    Swizzle swizzle;
    SwizzleReport report;
};

/// Swizzles that keep 16-byte chunks whole. The first one XORs the fewest bits.
struct SwizzleSuggestion {
    std::optional<Swizzle> best;       ///< the first one without conflicts
    std::vector<SwizzleTrial> trials;  ///< in the order tried, the best one last
    std::string why;                   ///< one or two sentences, with the numbers
};
[[nodiscard]] SwizzleSuggestion suggest_swizzle(const SharedTile& tile, int vector_bytes);

}  // namespace jitgemm
