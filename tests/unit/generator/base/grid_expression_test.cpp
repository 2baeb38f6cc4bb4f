#include "generator/base/grid_rule.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace jitgemm;

// The expression that exports and mains carry, compiled by another compiler.
TEST_CASE("the C expression of a block count counts as block_count does") {
    if (std::system("command -v cc >/dev/null 2>&1") != 0) SKIP_TEST("no C compiler 'cc'");
    const std::vector<GridRule> rules{
        {128, 64, 3},
        {.tile_m = 8, .tile_n = 1024, .matrix = GridMatrix::a, .blocks = CappedBlocks{7}},
        {.tile_m = 8, .tile_n = 100, .matrix = GridMatrix::b, .blocks = CappedBlocks{65536}},
        {.tile_m = 8, .matrix = GridMatrix::lines, .blocks = CappedBlocks{1000}},
        {.matrix = GridMatrix::lines_a, .blocks = CappedBlocks{1000}},
        {.tile_n = 4, .matrix = GridMatrix::lines_b, .blocks = CappedBlocks{1000}},
        {.tile_n = 256, .matrix = GridMatrix::d_quads, .blocks = CappedBlocks{1 << 20}},
        {.tile_m = 64, .tile_n = 64, .blocks = PersistentBlocks{2, 4}},
        {.tile_m = 16, .tile_n = 16, .blocks = PersistentBlocks{1, 16}},
        {.tile_m = 64, .tile_n = 32, .blocks = RemainderBlocks{132}},
        {.tile_m = 64, .tile_n = 64, .blocks = PersistentBlocks{1, 2}, .batch = GridBatch::tiles},
        {.tile_m = 64, .tile_n = 64, .batch = GridBatch::blocks}};
    const std::vector<std::array<std::int64_t, 3>> sizes{
        {1, 1, 1}, {1000, 777, 555}, {40'000'000, 8, 300}, {63, 4097, 4095}};
    std::string program =
        "#include <stdint.h>\n#include <stdio.h>\n"
        "static int64_t tiles(int64_t e, int64_t t) { return (e + t - 1) / t; }\n"
        "static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }\n"
        "static int64_t greatest(int64_t x, int64_t y) { return x > y ? x : y; }\n"
        "static int64_t sm_count(int cluster) { return cluster > 0 ? 10 : 0; }\nint main(void) {\n    int64_t m, n, k, "
        "batch = 3;\n";
    std::string expected;
    for (const auto& [m, n, k] : sizes) {
        program += fmt::format("    m = {}, n = {}, k = {};\n", m, n, k);
        for (const GridRule& rule : rules) {
            program += fmt::format("    printf(\"%lld\\n\", (long long)({}));\n",
                                   block_count_expression(rule, {"m", "n", "k", "batch"}));
            expected += fmt::format("{}\n", block_count(rule, resolved({.m = m, .n = n, .k = k, .batch = 3}), 10));
        }
    }
    const jitgemm::testing::TemporaryFolder folder;
    std::ofstream(folder / "count.c") << program + "    return (int)(batch - 3);\n}\n";
    const std::string out = folder / "counts";
    REQUIRE(std::system(
                fmt::format("cd {} && cc -std=c99 -Wall -Wextra -Wconversion -Werror count.c -o count && ./count > {}",
                            folder.path(), out)
                    .c_str()) == 0);
    CHECK(jitgemm::testing::text_in(out) == expected);
}
