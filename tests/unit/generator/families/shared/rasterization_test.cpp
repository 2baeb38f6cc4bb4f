#include "generator/families/shared/rasterization.hpp"
#include "generator/families/mma_multistage/config.hpp"
#include "generator/families/shared/tile_schedule.hpp"

#include "runtime/support/file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

constexpr Rasterization kOrders[] = {Rasterization::row, Rasterization::column, Rasterization::grouped_m,
                                     Rasterization::grouped_n, Rasterization::zigzag};
constexpr TileIndex kTiles[] = {{1, 1}, {1, 7}, {7, 1}, {5, 3}, {3, 5}, {8, 8}, {9, 10}, {13, 4}};

MmaMultistageConfig config_of(Rasterization order, int group) {
    MmaMultistageConfig config;
    config.rasterization = order;
    config.group = has_groups(order) ? group : 1;
    return config;
}

/// A host program out of templates/common/rasterization.cuh: prints m and n of every block, for all of kTiles.
std::string host_program(const MmaMultistageConfig& config) {
    std::string program = fmt::format(
        "#include <algorithm>\n#include <cstdio>\n#define __device__\n#define __forceinline__ inline\n"
        "using std::min;\n"
        "constexpr int kGroup = {};\n#define GEMM_RASTERIZATION {}\n#include \"common/rasterization.cuh\"\n"
        "void print(unsigned m, unsigned n) {{ for (unsigned b = 0; b < m * n; ++b) {{\n"
        "    const TileCoord t = tile_of_block(b, {{m, n}}); std::printf(\"%u %u\\n\", t.m, t.n); }} }}\nint main() "
        "{{\n",
        config.group, static_cast<int>(config.rasterization));
    for (const TileIndex& tiles : kTiles) program += fmt::format("    print({}, {});\n", tiles.m, tiles.n);
    return program + "}\n";
}

/// Tiles in the order of the template's own code, printed by a program. Empty if it can't be compiled here.
std::vector<TileIndex> template_tiles(const MmaMultistageConfig& config) {
    const TemporaryFolder folder;
    put_text(folder / "order.cpp", host_program(config));
    const std::string command =
        fmt::format("cd '{}' && c++ -std=c++17 -w -I '{}/templates' order.cpp -o order && ./order >tiles",
                    folder.path(), JITGEMM_SOURCE_DIR);
    if (std::system(command.c_str()) != 0) return {};  // NOLINT(bugprone-command-processor): a compiler is a command
    std::istringstream words(text_in(folder / "tiles"));
    std::vector<TileIndex> tiles;
    for (TileIndex tile; words >> tile.m >> tile.n;) tiles.push_back(tile);
    return tiles;
}

}  // namespace

TEST_CASE("blocks take the tiles that templates/common/rasterization.cuh gives them") {
    if (std::system("command -v c++ >/dev/null 2>&1") != 0) SKIP_TEST("no compiler c++ here");  // NOLINT
    for (const Rasterization order : kOrders) {
        const MmaMultistageConfig config = config_of(order, 3);
        std::vector<TileIndex> ours;
        for (const TileIndex& tiles : kTiles) {
            for (std::int64_t block = 0; block < tiles.m * tiles.n; ++block)
                ours.push_back(tile_of_block(config, block, tiles));
        }
        INFO(static_cast<int>(order));
        const std::vector<TileIndex> theirs = template_tiles(config);
        REQUIRE(theirs.size() == ours.size());
        CHECK(std::ranges::equal(ours, theirs));
    }
}

TEST_CASE("every tile is taken by one block, which is the block of that tile") {
    for (const Rasterization order : kOrders) {
        for (const int group : {1, 2, 3, 8, 64}) {
            const MmaMultistageConfig config = config_of(order, group);
            for (const TileIndex& tiles : kTiles) {
                std::set<std::pair<std::int64_t, std::int64_t>> taken;
                for (std::int64_t block = 0; block < tiles.m * tiles.n; ++block) {
                    const TileIndex tile = tile_of_block(config, block, tiles);
                    CHECK((tile.m >= 0 && tile.m < tiles.m && tile.n >= 0 && tile.n < tiles.n));
                    CHECK(taken.insert({tile.m, tile.n}).second);
                    CHECK(block_of_tile(config, tile, tiles) == block);
                }
            }
        }
    }
}

TEST_CASE("a block takes one split of one tile. Splits of a cluster are neighbours") {
    constexpr TileIndex kFewTiles{3, 5};
    for (const Reduction reduction : {Reduction::workspace, Reduction::cluster}) {
        MmaMultistageConfig config = config_of(Rasterization::grouped_m, 2);
        config.split_k = 4;
        config.reduction = reduction;
        std::set<std::tuple<std::int64_t, std::int64_t, int>> taken;
        for (std::int64_t block = 0; block < 3 * 5 * 4; ++block) {
            const auto [tile, split] = work_of_block(config, block, kFewTiles);
            CHECK(taken.insert({tile.m, tile.n, split}).second);
            CHECK((split >= 0 && split < 4));
            const std::int64_t first = first_block_of_tile(config, tile, kFewTiles);
            CHECK(block == first + split * (reduction == Reduction::cluster ? 1 : 3 * 5));
        }
    }
}

TEST_CASE("splits share K out in whole k-tiles, without gap or overlap") {
    MmaMultistageConfig config;
    for (const std::int64_t k : {0, 1, 31, 32, 33, 96, 1000, 4096}) {
        for (const int splits : {1, 2, 3, 7, 64}) {
            config.split_k = splits;
            std::int64_t reached = 0;
            for (int split = 0; split < splits; ++split) {
                const KRange range = k_range_of_split(config, split, k);
                CHECK(range.first == reached);
                CHECK(range.end >= range.first);
                CHECK((range.end % config.block.k == 0 || range.end == k));
                reached = range.end;
            }
            CHECK(reached == k);
        }
    }
}
