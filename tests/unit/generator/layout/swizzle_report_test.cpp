#include "generator/layout/swizzle_report.hpp"
#include "generator/layout/swizzle.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

TEST_CASE("eight rows of 128 bytes collide without swizzle, and not with TMA's") {
    const SharedTile tile{8, 64, 2};
    const SwizzleReport plain = report_swizzle(Swizzle(0, 3, 3), tile, 16);
    CHECK(plain.load.ideal == 8);        // one phase per chunk of 16 bytes
    CHECK(plain.load.wavefronts == 64);  // all 8 rows in the same 4 banks
    CHECK(plain.store.conflicts() == 0);
    CHECK(report_swizzle(Swizzle(3, 3, 3), tile, 16).conflict_free());
    CHECK(report_swizzle(Swizzle(2, 3, 3), tile, 16).load.wavefronts == 16);  // two rows still meet
}

TEST_CASE("the suggested swizzle is the weakest without conflicts") {
    const auto suggested = [](int rows, int columns, int bytes) {
        const SwizzleSuggestion suggestion = suggest_swizzle({rows, columns, bytes}, 16);
        return suggestion.best ? to_string(*suggestion.best) : std::string("none");
    };
    CHECK(suggested(128, 64, 2) == "Sw<3,3,3>");  // 128 bytes: TMA's 128B
    CHECK(suggested(128, 32, 2) == "Sw<2,3,3>");  // 64 bytes
    CHECK(suggested(128, 16, 2) == "Sw<1,3,3>");  // 32 bytes
    CHECK(suggested(128, 8, 2) == "Sw<0,3,3>");   // 16 bytes: rows follow each other through the banks
    CHECK(suggested(64, 128, 2) == "Sw<3,3,4>");  // 256 bytes: the row's bits lie one higher
    CHECK(suggested(64, 128, 1) == "Sw<3,4,3>");
    CHECK(suggested(64, 32, 4) == "Sw<3,2,3>");
    CHECK(suggested(128, 72, 2) == "Sw<0,3,3>");  // padded by 16 bytes
}

TEST_CASE("a pitch that no swizzle of indices mends says what would") {
    const SwizzleSuggestion suggestion = suggest_swizzle({64, 96, 2}, 16);  // 192 bytes: rows r and r + 2 share banks
    CHECK(suggestion.trials.front().report.load.conflicts() > 0);
    CHECK((suggestion.best || suggestion.why.find("Pad the rows") != std::string::npos));
    for (const SwizzleTrial& trial : suggestion.trials) CHECK(trial.report.load.ideal == 64 / 8 * 12);
}

TEST_CASE("the swizzle that kernels use is the suggested one, where indices can express it") {
    for (const int pitch : {32, 64, 128, 256, 512}) {
        const SharedTile tile{64, pitch / 2, 2};
        const SwizzleSuggestion suggestion = suggest_swizzle(tile, 16);
        REQUIRE(suggestion.best);
        for (int row = 0; row < tile.rows; ++row) {
            for (int chunk = 0; chunk < pitch / kChunkBytes; ++chunk)
                CHECK(swizzled_byte(*suggestion.best, tile, row, chunk * 8) == swizzled_offset(pitch, row, chunk));
        }
    }
}

TEST_CASE("swizzles that tear vectors apart and tiles that can't be are refused with the numbers") {
    CHECK(report_swizzle(Swizzle(2, 1, 3), {8, 64, 2}, 16).load.refusal.find("tears") != std::string::npos);
    CHECK(report_swizzle(Swizzle(3, 3, 3), {4, 64, 2}, 16).load.refusal.find("8 rows") != std::string::npos);
    CHECK_THROWS_AS(report_swizzle(Swizzle(3, 3, 3), {8, 63, 2}, 16), LayoutError);
    CHECK_THROWS_AS(report_swizzle(Swizzle(3, 3, 3), {0, 64, 2}, 16), LayoutError);
    CHECK_THROWS_AS(report_swizzle(Swizzle(3, 3, 3), {4096, 64, 2}, 16), LayoutError);
    CHECK_THROWS_AS(report_swizzle(Swizzle(3, 3, 3), {8, 64, 2}, 3), LayoutError);
}
