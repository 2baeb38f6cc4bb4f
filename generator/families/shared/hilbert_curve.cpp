#include "generator/families/shared/hilbert_curve.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

/// A step by a tile, or several.
struct Step {
    std::int64_t m = 0;
    std::int64_t n = 0;
};
Step operator*(std::int64_t times, Step step) { return {times * step.m, times * step.n}; }
Step operator-(Step step) { return -1 * step; }
TileIndex operator+(TileIndex tile, Step step) { return {tile.m + step.m, tile.n + step.n}; }

/// Tiles that the curve enters at `corner` and leaves at the other end of its first side.
struct Part {
    TileIndex corner;
    Step a, b;  ///< a tile further on each side
    std::int64_t size_a, size_b;

    [[nodiscard]] std::int64_t count() const { return size_a * size_b; }
    [[nodiscard]] bool is_line() const { return size_a == 1 || size_b == 1; }
    [[nodiscard]] TileIndex at(std::int64_t along_a, std::int64_t along_b) const {
        return corner + along_a * a + along_b * b;
    }
    [[nodiscard]] bool holds(TileIndex tile) const {
        const TileIndex last = at(size_a - 1, size_b - 1);
        const auto [least_m, most_m] = std::minmax(corner.m, last.m);
        const auto [least_n, most_n] = std::minmax(corner.n, last.n);
        return tile.m >= least_m && tile.m <= most_m && tile.n >= least_n && tile.n <= most_n;
    }
};

Part whole(TileIndex tiles) {
    constexpr Step kDown{1, 0};
    constexpr Step kRight{0, 1};
    if (tiles.m > tiles.n) return {{}, kDown, kRight, tiles.m, tiles.n};
    return {{}, kRight, kDown, tiles.n, tiles.m};
}

/// Even where it can be: the curve then leaves a part at the side that the next one begins at.
std::int64_t even_half(std::int64_t size) { return size > 2 ? size / 2 + size / 2 % 2 : size / 2; }

/// In the curve's order. Of a long one two, along its length; else up, along and down again.
std::vector<Part> parts_of(const Part& p) {
    if (2 * p.size_a > 3 * p.size_b) {
        const std::int64_t half = even_half(p.size_a);
        return {{p.corner, p.a, p.b, half, p.size_b}, {p.at(half, 0), p.a, p.b, p.size_a - half, p.size_b}};
    }
    const std::int64_t half = p.size_a / 2;
    const std::int64_t low = even_half(p.size_b);
    return {{p.corner, p.b, p.a, low, half},
            {p.at(0, low), p.a, p.b, p.size_a, p.size_b - low},
            {p.at(p.size_a - 1, low - 1), -p.b, -p.a, low, p.size_a - half}};
}

}  // namespace

TileIndex tile_on_hilbert_curve(std::int64_t place, TileIndex tiles) {
    Part part = whole(tiles);
    while (!part.is_line()) {
        for (const Part& next : parts_of(part)) {
            part = next;
            if (place < part.count()) break;
            place -= part.count();
        }
    }
    return part.size_b == 1 ? part.at(place, 0) : part.at(0, place);
}

std::int64_t place_on_hilbert_curve(TileIndex tile, TileIndex tiles) {
    Part part = whole(tiles);
    std::int64_t place = 0;
    while (!part.is_line()) {
        for (const Part& next : parts_of(part)) {
            part = next;
            if (part.holds(tile)) break;
            place += part.count();
        }
    }
    return place + std::abs(tile.m - part.corner.m) + std::abs(tile.n - part.corner.n);
}

}  // namespace jitgemm
