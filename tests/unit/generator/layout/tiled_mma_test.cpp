#include "generator/layout/tiled_mma.hpp"
#include "tests/catch.hpp"
#include "tests/support/cute_data.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

using namespace jitgemm;

namespace {

/// Equal as functions of (mode 0, mode 1).
void check_same(const Layout& ours, const Layout& cutes) {
    INFO(to_string(ours) << " and CuTe's " << to_string(cutes));
    REQUIRE(ours.rank() == cutes.rank());
    for (int mode = 0; mode < ours.rank(); ++mode) CHECK(table(ours.mode(mode)) == table(cutes.mode(mode)));
}

/// The same for threads below a limit. CuTe's get_layoutC_TV puts warps along K beyond the tile; its partition_C lets
/// them share C, as ours does.
void check_same_below(const Layout& ours, const Layout& cutes, std::int64_t threads) {
    const std::vector<std::int64_t> of_ours = table(ours.mode(0)), of_cutes = table(cutes.mode(0));
    REQUIRE(of_ours.size() == of_cutes.size());
    CHECK(std::equal(of_ours.begin(), of_ours.begin() + threads, of_cutes.begin()));
    CHECK(std::equal(of_ours.begin(), of_ours.begin() + threads, of_ours.begin() + threads));
    CHECK(table(ours.mode(1)) == table(cutes.mode(1)));
}

}  // namespace

// The data are what CuTe prints for TiledMMA::get_layoutA_TV, _B_TV and _C_TV (CUTLASS 4.7, NVIDIA/cutlass 7107b05).
TEST_CASE("tiled MMAs hold what CuTe's hold") {
    const std::vector<std::string> lines = testing::cute_lines("cute_tiled_mma.txt", "mma");
    REQUIRE(lines.size() > 20);
    for (const std::string& line : lines) {
        INFO(line);
        std::istringstream words(line);
        const TiledMma mma = testing::read_tiled_mma(words);
        TileShape tile;
        words >> tile.m >> tile.n >> tile.k;
        CHECK(mma.tile() == tile);
        for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
            std::string layout;
            words >> layout;
            const Layout cutes = parse_layout(layout);
            if (operand == Operand::c && cutes.cosize() > std::int64_t{tile.m} * tile.n)
                check_same_below(mma.layout_tv(operand).layout(), cutes, mma.threads() / mma.warps().size(2));
            else
                check_same(mma.layout_tv(operand).layout(), cutes);
        }
    }
}

// partition_A of a 128x64 column-major tensor, partition_B of 192x64 row-major, partition_C of 128x192 with rows of
// 200.
TEST_CASE("a thread's partition is CuTe's") {
    const std::vector<std::string> lines = testing::cute_lines("cute_tiled_mma.txt", "part");
    REQUIRE(lines.size() > 15);
    const std::array<Layout, 3> tensors{parse_layout("(128,64)"), parse_layout("(192,64):(64,1)"),
                                        parse_layout("(128,192):(200,1)")};
    for (const std::string& line : lines) {
        INFO(line);
        std::istringstream words(line);
        const TiledMma mma = testing::read_tiled_mma(words);
        int thread = 0;
        words >> thread;
        for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
            std::int64_t offset = 0;
            std::string layout;
            words >> offset >> layout;
            const Slice part = mma.partition(operand, tensors[static_cast<std::size_t>(operand)], thread);
            CHECK(part.offset == offset);
            check_same(part.layout, parse_layout(layout));
        }
    }
}

TEST_CASE("repetitions are the permutation of atom x warps x repetitions") {
    const MmaAtom atom = mma_atom("SM80_16x8x16_F32BF16BF16F32_TN");
    const TiledMma repeated(atom, parse_layout("(2,2,1)"), TileShape{1, 2, 1});
    const TiledMma permuted(atom, parse_layout("(2,2,1)"), {Tiler(32), Tiler(32), Tiler(16)});
    CHECK(repeated.tile() == TileShape{32, 32, 16});
    CHECK(repeated.threads() == 128);
    for (const Operand operand : {Operand::a, Operand::b, Operand::c})
        CHECK(repeated.layout_tv(operand).layout() == permuted.layout_tv(operand).layout());
}

TEST_CASE("threads of a tile share A along N and B along M, and C among nobody") {
    const TiledMma mma(mma_atom("SM80_16x8x8_F32TF32TF32F32_TN"), parse_layout("(2,4,1)"), TileShape{2, 1, 2});
    for (const auto& [operand, holders] : {std::pair{Operand::a, 4U}, {Operand::b, 2U}, {Operand::c, 1U}}) {
        const TvLayout tv = mma.layout_tv(operand);
        std::multiset<int> held;
        for (int thread = 0; thread < tv.threads(); ++thread) {
            for (int value = 0; value < tv.values(); ++value) held.insert(tv.index(thread, value));
        }
        CHECK(held.size() == static_cast<std::size_t>(tv.rows() * tv.columns()) * holders);
        for (int index = 0; index < tv.rows() * tv.columns(); ++index) REQUIRE(held.count(index) == holders);
        const ThreadValue owner = owner_of(tv, {3, 5});
        CHECK(tv.coordinate(owner.thread, owner.value) == Coordinate{3, 5});
    }
}

TEST_CASE("tiled MMAs refuse what cannot be tiled") {
    const MmaAtom atom = mma_atom("SM80_16x8x16_F32BF16BF16F32_TN");
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(2,2)")), LayoutError);
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(2,2,1):(2,2,0)")), LayoutError);
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(2,2,1)"), {Tiler(48), Tiler(), Tiler()}), LayoutError);
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(2,2,1)"), TileShape{1, 0, 1}), LayoutError);
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(8,8,1)")), LayoutError);  // 2048 threads
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(1,1,1)"), TileShape{999999999, 1, 1}), LayoutError);
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(1,1,1)"), TileShape{4096, 8192, 1}).layout_tv(Operand::c),
                    LayoutError);
    CHECK_THROWS_AS(TiledMma(atom, parse_layout("(1,1,1)")).partition(Operand::a, parse_layout("(16,16)"), 32),
                    LayoutError);
}
