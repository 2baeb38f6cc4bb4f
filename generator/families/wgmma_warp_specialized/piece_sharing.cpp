#include "generator/families/wgmma_warp_specialized/piece_sharing.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jitgemm {
namespace {

constexpr int kMoments = 4;  // of a share's time that are looked at
constexpr int kWordBits = 64;

/// Different numbers, which are small, and how many there are.
class NumberSet {
public:
    explicit NumberSet(int most) : words_(static_cast<std::size_t>(most / kWordBits + 1)) {}
    void add(int number) {
        std::uint64_t& word = words_[static_cast<std::size_t>(number / kWordBits)];
        const std::uint64_t bit = std::uint64_t{1} << (number % kWordBits);
        count_ += (word & bit) == 0 ? 1 : 0;
        word |= bit;
    }
    [[nodiscard]] int count() const { return count_; }

private:
    std::vector<std::uint64_t> words_;
    int count_ = 0;
};

/// Where clusters are that are all in their first pieces, or all in later ones: rows and columns of tiles, each with a
/// k-tile. K is as long as the deal has clusters, so that all shares begin at whole numbers.
struct Places {
    Places(int most_lines, int length) : rows(most_lines * length), columns(most_lines * length), k_tiles(length) {}
    void add(const TileIndex& tile, int k_tile) {
        rows.add(static_cast<int>(tile.m) * k_tiles + k_tile);
        columns.add(static_cast<int>(tile.n) * k_tiles + k_tile);
        ++clusters;
    }
    void count_into(FetchedLines& mean) const {
        mean.rows += rows.count() / static_cast<double>(kMoments);
        mean.columns += columns.count() / static_cast<double>(kMoments);
    }

    NumberSet rows, columns;
    int k_tiles;
    int clusters = 0;
};

struct Moment {
    Places first, later;
};

std::vector<TileIndex> streamed_tiles_of(const StreamK& deal, const RasterOrder& order, TileIndex tiles) {
    std::vector<TileIndex> streamed;
    for (std::int64_t tile = 0; tile < deal.streamed; ++tile) streamed.push_back(tile_of_block(order, tile, tiles));
    return streamed;
}

int most_lines(const std::vector<TileIndex>& tiles) {
    std::int64_t most = 0;
    for (const TileIndex& tile : tiles) most = std::max({most, tile.m, tile.n});
    return static_cast<int>(most) + 1;
}

/// Adds a cluster, which walks its share from the end, to each moment.
void walk_share(int cluster, int streamed, const std::vector<TileIndex>& tiles, std::vector<Moment>& moments) {
    const int length = moments.front().first.k_tiles;
    const int begin = cluster * streamed;
    int end = begin + streamed;
    int walked = 0;
    int moment = 0;
    for (bool is_first = true; end > begin; is_first = false) {
        const int tile = (end - 1) / length;
        const int first = std::max(begin, tile * length);
        for (; moment < kMoments && streamed * (2 * moment + 1) / (2 * kMoments) < walked + end - first; ++moment) {
            const int k_tile = first + streamed * (2 * moment + 1) / (2 * kMoments) - walked - tile * length;
            Moment& at = moments[static_cast<std::size_t>(moment)];
            (is_first ? at.first : at.later).add(tiles[static_cast<std::size_t>(tile)], k_tile);
        }
        walked += end - first;
        end = first;
    }
}

LinesOfPieces counted_lines(const StreamK& deal, const RasterOrder& order, TileIndex tiles) {
    LinesOfPieces lines;
    const std::vector<TileIndex> streamed = streamed_tiles_of(deal, order, tiles);
    const auto clusters = static_cast<int>(deal.clusters);
    const Places nothing(most_lines(streamed), clusters);
    std::vector<Moment> moments(kMoments, {nothing, nothing});
    for (int cluster = 0; cluster < clusters; ++cluster)
        walk_share(cluster, static_cast<int>(deal.streamed), streamed, moments);
    for (const Moment& moment : moments) {
        moment.first.count_into(lines.first);
        moment.later.count_into(lines.later);
        lines.late_clusters += moment.later.clusters / static_cast<double>(kMoments);
    }
    return lines;
}

/// Everything that the lines follow from. K is not among it.
struct PieceGrid {
    std::int64_t streamed, clusters;
    Rasterization rasterization;
    int group;
    std::int64_t tiles_m, tiles_n;
    friend bool operator==(const PieceGrid&, const PieceGrid&) = default;
};

std::size_t hash_of(const PieceGrid& grid) {
    std::size_t hash = static_cast<std::size_t>(grid.rasterization);
    for (const std::int64_t value :
         {grid.streamed, grid.clusters, std::int64_t{grid.group}, grid.tiles_m, grid.tiles_n})
        hash = hash * 31 + static_cast<std::size_t>(value);
    return hash;
}

/// Counted lines. Counting takes several times as long as the rest of a cost, and many candidates of a problem have
/// the same grid of tiles.
struct KnownLines {
    PieceGrid grid{};
    LinesOfPieces lines;
};
constexpr std::size_t kKnownLines = 128;

}  // namespace

LinesOfPieces lines_of_pieces(const StreamK& deal, const RasterOrder& order, TileIndex tiles) {
    if (deal.streamed == 0) return {};
    thread_local std::array<KnownLines, kKnownLines> known;
    const PieceGrid grid{deal.streamed, deal.clusters, order.rasterization, order.group, tiles.m, tiles.n};
    KnownLines& entry = known[hash_of(grid) % kKnownLines];
    if (entry.grid != grid) entry = {grid, counted_lines(deal, order, tiles)};
    return entry.lines;
}

}  // namespace jitgemm
