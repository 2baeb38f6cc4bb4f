#include "generator/families/wgmma_warp_specialized/piece_sharing.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <set>
#include <utility>

using namespace jitgemm;

namespace {

/// A cluster's share as templates/scheduler/stream_k_walk.cuh walks it, one k-tile at a time.
class Walk {
public:
    Walk(const StreamK& deal, std::int64_t cluster)
        : k_tiles_(deal.k_tiles), begin_(deal.share_begin(cluster)), end_(deal.share_begin(cluster + 1)) {
        start_piece();
    }
    [[nodiscard]] bool is_done() const { return begin_ >= end_; }
    [[nodiscard]] bool is_first() const { return is_first_; }
    [[nodiscard]] std::int64_t tile() const { return at_ / k_tiles_; }
    [[nodiscard]] std::int64_t k_tile() const { return at_ % k_tiles_; }
    void step() {
        if (++at_ < end_) return;
        end_ = first_;
        is_first_ = false;
        if (!is_done()) start_piece();
    }

private:
    void start_piece() { at_ = first_ = std::max(begin_, (end_ - 1) / k_tiles_ * k_tiles_); }

    std::int64_t k_tiles_, begin_, end_, first_ = 0, at_ = 0;
    bool is_first_ = true;
};

using Places = std::set<std::pair<std::int64_t, std::int64_t>>;  // row or column of tiles, k-tile

/// The means over all steps of all shares.
LinesOfPieces walked_lines(const StreamK& deal, const RasterOrder& order, TileIndex tiles) {
    std::vector<Walk> walks;
    for (std::int64_t cluster = 0; cluster < deal.clusters; ++cluster) walks.emplace_back(deal, cluster);
    LinesOfPieces sum;
    int steps = 0;
    for (; std::ranges::none_of(walks, &Walk::is_done); ++steps) {
        Places rows, columns, later_rows, later_columns;
        for (Walk& walk : walks) {
            const TileIndex tile = tile_of_block(order, walk.tile(), tiles);
            (walk.is_first() ? rows : later_rows).emplace(tile.m, walk.k_tile());
            (walk.is_first() ? columns : later_columns).emplace(tile.n, walk.k_tile());
            sum.late_clusters += walk.is_first() ? 0 : 1;
            walk.step();
        }
        sum.first.rows += static_cast<double>(rows.size());
        sum.first.columns += static_cast<double>(columns.size());
        sum.later.rows += static_cast<double>(later_rows.size());
        sum.later.columns += static_cast<double>(later_columns.size());
    }
    return {{sum.first.rows / steps, sum.first.columns / steps},
            {sum.later.rows / steps, sum.later.columns / steps},
            sum.late_clusters / steps};
}

/// Tiles of stream-K. They have many k-tiles, so rounding a share's begin to k-tiles moves it little.
StreamK deal_of(TileIndex tiles, std::int64_t clusters) {
    return streamed_tiles(whole_tiles(tiles.m * tiles.n, 64 * clusters, clusters));
}

/// The default order of the family.
struct DefaultOrder {
    Rasterization rasterization = Rasterization::grouped_m;
    int group = 8;
};

}  // namespace

TEST_CASE("clusters in pieces of stream-K share rows and columns as a walk of all their k-tiles finds") {
    for (const TileIndex tiles : {TileIndex{3, 3}, {4, 1}, {5, 2}, {1, 7}, {8, 4}, {4, 10}, {11, 10}, {13, 9}}) {
        for (const std::int64_t clusters : {15, 30, 33, 60, 66, 132}) {
            const StreamK deal = deal_of(tiles, clusters);
            CAPTURE(tiles.m, tiles.n, clusters, deal.streamed);
            const LinesOfPieces lines = lines_of_pieces(deal, DefaultOrder{}, tiles);
            if (deal.streamed == 0) {
                CHECK(lines.first.rows + lines.later.rows == 0);
                continue;
            }
            const LinesOfPieces walked = walked_lines(deal, DefaultOrder{}, tiles);
            const auto all = static_cast<double>(clusters);
            CHECK(lines.late_clusters == Approx(walked.late_clusters).margin(0.06 * all));
            CHECK(lines.first.rows + lines.later.rows ==
                  Approx(walked.first.rows + walked.later.rows).margin(0.12 * all));
            CHECK(lines.first.columns + lines.later.columns ==
                  Approx(walked.first.columns + walked.later.columns).margin(0.12 * all));
        }
    }
}

TEST_CASE("pieces of stream-K share the most where the clusters are a multiple of the tiles") {
    const TileIndex tiles{3, 3};
    const auto fetched = [&](std::int64_t clusters) {
        const LinesOfPieces lines = lines_of_pieces(deal_of(tiles, clusters), DefaultOrder{}, tiles);
        return (lines.first.rows + lines.later.rows) / static_cast<double>(clusters);
    };
    CHECK(fetched(63) == Approx(3.0 / 9));  // nine clusters at each k-tile, in three rows
    CHECK(fetched(64) > 2 * fetched(63));
}
