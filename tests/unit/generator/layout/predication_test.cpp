#include "generator/layout/predication.hpp"
#include "generator/layout/layout_algebra.hpp"
#include "tests/catch.hpp"

#include <numeric>

using namespace jitgemm;

namespace {

using Extents = std::vector<std::int64_t>;

/// Elements of tile (i, j) that exist, counted one by one.
std::int64_t brute_count(const Extents& extents, const Extents& tile, std::int64_t i, std::int64_t j) {
    std::int64_t count = 0;
    for (std::int64_t row = 0; row < tile[0]; ++row) {
        for (std::int64_t column = 0; column < tile[1]; ++column)
            count += i * tile[0] + row < extents[0] && j * tile[1] + column < extents[1];
    }
    return count;
}

}  // namespace

TEST_CASE("a 41 x 55 matrix in 4 x 8 tiles: 41 / 4 is 10 remainder 1, 55 / 8 is 6 remainder 7") {
    const Predication tiles = predicate({41, 55}, {4, 8});
    CHECK(tiles.grid == Extents{11, 7});
    REQUIRE(tiles.counts.size() == 77);
    for (std::size_t i = 0; i < 11; ++i) {
        for (std::size_t j = 0; j < 7; ++j) CHECK(tiles.counts[i * 7 + j] == (i == 10 ? 1 : 4) * (j == 6 ? 7 : 8));
    }
    CHECK(tiles.in_bounds == 41 * 55);
    CHECK(tiles.out_of_bounds == 44 * 56 - 41 * 55);
}

TEST_CASE("1000 elements in tiles of 128 are rounded up to 1024") {
    const Predication tiles = predicate({1000}, {128});
    CHECK(tiles.grid == Extents{8});
    CHECK(tiles.counts == Extents{128, 128, 128, 128, 128, 128, 128, 104});
    CHECK((tiles.in_bounds == 1000 && tiles.out_of_bounds == 24));
}

TEST_CASE("counts agree with a count one by one, and add up") {
    for (const Extents& extents : {Extents{1, 1}, Extents{7, 130}, Extents{64, 64}, Extents{65, 31}}) {
        for (const Extents& tile : {Extents{1, 1}, Extents{4, 8}, Extents{64, 32}, Extents{100, 200}}) {
            const Predication tiles = predicate(extents, tile);
            std::size_t index = 0;
            for (std::int64_t i = 0; i < tiles.grid[0]; ++i) {
                for (std::int64_t j = 0; j < tiles.grid[1]; ++j)
                    REQUIRE(tiles.counts[index++] == brute_count(extents, tile, i, j));
            }
            CHECK(std::accumulate(tiles.counts.begin(), tiles.counts.end(), std::int64_t{0}) == tiles.in_bounds);
        }
    }
    const Predication cube = predicate({5, 3, 4}, {2, 2, 3});
    CHECK(cube.grid == Extents{3, 2, 2});
    CHECK(cube.counts == Extents{12, 4, 6, 2, 12, 4, 6, 2, 6, 2, 3, 1});
}

TEST_CASE("predication refuses what has no tiles") {
    CHECK_THROWS_AS(predicate({}, {}), LayoutError);
    CHECK_THROWS_AS(predicate({41, 55}, {4}), LayoutError);
    CHECK_THROWS_AS(predicate({41, 0}, {4, 8}), LayoutError);
    CHECK_THROWS_AS(predicate({41, 55}, {4, -8}), LayoutError);
    CHECK_THROWS_AS(predicate({std::int64_t{1} << 40}, {1}), LayoutError);
}
