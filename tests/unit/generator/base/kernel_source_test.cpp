#include "generator/base/kernel_entry.hpp"
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
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .blocks = RemainderBlocks{132}}, 4096, 4096) == 512 + 116);
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .blocks = RemainderBlocks{128}}, 4096, 4096) == 512);
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .blocks = RemainderBlocks{132}}, 256, 129) == 4);
    CHECK(block_count({.tile_m = 256, .tile_n = 128, .blocks = RemainderBlocks{132}}, 0, 129) == 0);
}

TEST_CASE("block_count is exact beyond 32 bits") {
    CHECK(block_count({64, 64, 1}, 5'000'000, 8) == 78'125);
    CHECK(block_count({16, 8, 1}, 2'147'418'111, 2'147'418'111) == 134'213'632LL * 268'427'264LL);
    CHECK(block_count({1, 1, 65536}, 2'147'418'111, 2'147'418'111) == 1LL << 62);
}

TEST_CASE("persistent blocks are as many as the GPU holds, in whole clusters, and no more than the tiles") {
    const GridRule one{.tile_m = 128, .tile_n = 128, .blocks = PersistentBlocks{}};
    CHECK(needs_sm_count(one));
    CHECK(block_count(one, 8192, 8192, 132) == 132);
    CHECK(block_count(one, 8192, 8192) == 64 * 64);
    CHECK(block_count(one, 1280, 128, 132) == 10);
    CHECK(block_count(one, 0, 128, 132) == 0);
    const GridRule pairs{.tile_m = 128, .tile_n = 128, .blocks = PersistentBlocks{2, 4}};
    CHECK(block_count(pairs, 8192, 8192, 132) == 264);
    CHECK(block_count(pairs, 8192, 8192, 131) == 260);
    CHECK(resident_clusters(find_gpu("h200"), 1) == 132);
    CHECK(resident_clusters(find_gpu("h200"), 2) == 66);
    CHECK(resident_clusters(find_gpu("h200"), 4) == 30);  // measured there, as the next
    CHECK(resident_clusters(find_gpu("h200"), 8) == 15);
    CHECK(block_count(pairs, 640, 128, 132) == 8);
    CHECK(block_count({.blocks = PersistentBlocks{1, 16}}, 100, 1, 8) ==
          16);  // a GPU too small for one cluster says so itself
    CHECK_FALSE(needs_sm_count({128, 128, 1}));
}
