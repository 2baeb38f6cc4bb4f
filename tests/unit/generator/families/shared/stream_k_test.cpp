/// How stream-K deals tiles out, whatever the family.

#include "generator/families/shared/stream_k.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using namespace jitgemm;

std::vector<std::int64_t> choices(std::int64_t tiles, std::int64_t k_tiles, std::int64_t clusters) {
    return stream_k_choices(streamed_tiles(whole_tiles(tiles, k_tiles, clusters)));
}

}  // namespace

TEST_CASE("stream-K deals out every k-tile once, in shares of nearly one length") {
    std::mt19937 random(15);
    const auto from_to = [&](std::int64_t least, std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    for (int i = 0; i < 2000; ++i) {
        const std::int64_t clusters = from_to(1, 140);
        const StreamK deal = streamed_tiles(whole_tiles(from_to(1, 700), from_to(8, 307), clusters));
        const std::int64_t rest = deal.tiles % clusters;
        CHECK(deal.streamed == (rest == 0 ? 0 : std::min(deal.tiles, rest + clusters)));
        INFO(deal.clusters << " clusters, " << deal.tiles << " tiles of " << deal.k_tiles);
        CHECK((deal.tiles - deal.streamed) % deal.clusters == 0);
        REQUIRE(deal.share_begin(0) == 0);
        REQUIRE(deal.share_begin(deal.clusters) == deal.streamed * deal.k_tiles);
        const double even = static_cast<double>(deal.streamed * deal.k_tiles) / static_cast<double>(deal.clusters);
        for (std::int64_t cluster = 0; cluster < deal.clusters; ++cluster) {
            const std::int64_t begin = deal.share_begin(cluster);
            const std::int64_t end = deal.share_begin(cluster + 1);
            REQUIRE(begin <= end);
            CHECK(std::abs(static_cast<double>(end - begin) - even) <= 7);  // a piece of up to three left at either end
            if (begin % deal.k_tiles != 0) CHECK(begin % deal.k_tiles >= 4);
            if (begin % deal.k_tiles != 0) CHECK(deal.k_tiles - begin % deal.k_tiles >= 4);
        }
        for (std::int64_t tile = 0; tile < deal.streamed; ++tile) {
            const std::int64_t last = deal.last_of(tile);
            const std::int64_t end = (tile + 1) * deal.k_tiles;
            CHECK(deal.share_begin(last) < end);
            CHECK(deal.share_begin(last + 1) >= end);
            CHECK(deal.taker_of(tile) == last);
        }
    }
}

TEST_CASE("stream-K shares nothing where tiles come out even or have fewer than eight k-tiles") {
    CHECK(streamed_tiles(whole_tiles(264, 100, 132)).streamed == 0);
    CHECK(streamed_tiles(whole_tiles(265, 7, 132)).streamed == 0);
    CHECK(streamed_tiles(whole_tiles(265, 8, 132)).streamed == 133);
    const StreamK even = streamed_tiles(whole_tiles(264, 100, 132));
    CHECK(even.partial_sums() == 0);
    CHECK(even.most_partial_sums() == 0);
    CHECK(even.taker_of(131) == 131);
    CHECK(even.taker_of(132) == 0);
}

TEST_CASE("stream-K is worth a candidate where the last wave leaves a share of the clusters idle") {
    using Counts = std::vector<std::int64_t>;
    CHECK(choices(265, 8, 132) == Counts{132});
    CHECK(choices(264, 8, 132).empty());
    CHECK(choices(131, 8, 132).empty());  // one in 132 is idle
    CHECK(choices(265, 7, 132).empty());
    CHECK(choices(20, 64, 132) == Counts{132, 120});  // six for each tile
    CHECK(choices(33, 64, 132) == Counts{132});       // four for each, which are all
    CHECK(choices(100, 64, 132) == Counts{132});
}
