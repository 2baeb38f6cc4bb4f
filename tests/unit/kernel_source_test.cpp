#include "generator/base/kernel_source.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

TEST_CASE("block_count covers every element once") {
    CHECK(block_count({128, 256, 1}, 128, 256) == 1);
    CHECK(block_count({128, 256, 1}, 129, 256) == 2);
    CHECK(block_count({128, 256, 1}, 129, 257) == 4);
    CHECK(block_count({128, 128, 3}, 256, 128) == 6);
}

TEST_CASE("an empty problem has no blocks") {
    CHECK(block_count({128, 128, 4}, 0, 128) == 0);
    CHECK(block_count({128, 128, 4}, 128, 0) == 0);
}

TEST_CASE("block_count gives each tile left over from whole waves two blocks") {
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .wave = 132}, 4096, 4096) == 512 + 116);
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .wave = 128}, 4096, 4096) == 512);
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .wave = 132}, 256, 129) == 4);
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .wave = 132}, 0, 129) == 0);
}

TEST_CASE("block_count is exact beyond 32 bits") {
    CHECK(block_count({64, 64, 1}, 5'000'000, 8) == 78'125);
    CHECK(block_count({16, 8, 1}, 2'147'418'111, 2'147'418'111) == 134'213'632LL * 268'427'264LL);
    CHECK(block_count({1, 1, 65536}, 2'147'418'111, 2'147'418'111) == 1LL << 62);
}
