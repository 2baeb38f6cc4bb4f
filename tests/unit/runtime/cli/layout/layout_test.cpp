// `jitgemm layout eval|swizzle|predicate` as a shell runs them.

#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#ifdef JITGEMM_TOOL

#include <numeric>

using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::Tool;
using nlohmann::json;

TEST_CASE("layout eval: layouts with their tables, numbers, and the column of an error") {
    const Tool tool;
    const json divided = tool.json("layout eval 'logical_divide(1000:1, 128:1)'", 0);
    CHECK(divided.at("layout") == "(128,8):(1,128)");
    CHECK(divided.at("size") == 1024);
    CHECK(divided.at("cosize") == 1024);
    REQUIRE(divided.at("table").size() == 1024);
    CHECK(divided.at("table")[129] == 129);

    const json swizzled = tool.json("layout eval 'Swizzle<3,3,3> o (8,64):(64,1)'", 0);
    CHECK(swizzled.at("layout") == "Sw<3,3,3> o 0 o (8,64):(64,1)");
    CHECK(swizzled.at("table")[1] == (64 ^ 8));  // (1,0)

    CHECK(tool.json("layout eval 'size((4,8))'", 0).at("value") == 32);
    CHECK(tool.json("layout eval '(4096,2):(2,1)'", 0).at("table").is_null());  // beyond 4096 values
    CHECK(tool.json("layout eval '(4,8'", 2).at("error").at("kind") == "layout");
    CHECK_THAT(tool.run("layout eval 'size(4:1,2)'").err, ContainsSubstring("column 1"));
    CHECK(tool.run("layout eval '(99999999999,99999999999)'").exit_code == 2);
    CHECK_THAT(tool.run("layout eval '(4,2):(2,1)'").out, ContainsSubstring("(4,2):(2,1)\nsize 8, cosize 8"));
}

TEST_CASE("layout eval: --json is --format json, and pictures come in every format") {
    const Tool tool;
    const std::string expression = "layout eval '(4,8):(8,1)'";
    CHECK(tool.run(expression + " --json").out == tool.run(expression + " --format json").out);
    CHECK_THAT(tool.run(expression + " --format svg").out, ContainsSubstring("<svg"));
    CHECK_THAT(tool.run(expression + " --format latex").out, ContainsSubstring("\\begin{document}"));
    CHECK_THAT(tool.run(expression + " --format html").out, ContainsSubstring("<!DOCTYPE html>"));
    CHECK(tool.run(expression + " --format pdf").exit_code == 2);
    CHECK_THAT(tool.run("layout eval '(4096,64)' --format svg").err, ContainsSubstring("at most 8192"));
    CHECK_THAT(tool.run("layout predicate --extent 1000000 --tile 1 --format svg").err,
               ContainsSubstring("at most 8192"));
}

TEST_CASE("layout swizzle: the map, the conflicts before and after, a suggestion") {
    const Tool tool;
    const json document = tool.json("layout swizzle --swizzle 3,3,3 --tile 8x64 --type f16", 0);
    CHECK(document.at("swizzle") == json({3, 3, 3}));
    CHECK(document.at("conflicts") == json({{"load", 0}, {"store", 0}}));
    CHECK(document.at("conflicts_without") == json({{"load", 56}, {"store", 0}}));
    REQUIRE(document.at("map").size() == 4096);
    for (int i = 0; i < 4096; ++i) CHECK(document.at("map")[static_cast<std::size_t>(i)] == (i ^ ((i & 0x1c0) >> 3)));

    const json suggested = tool.json("layout swizzle --suggest --tile 128x64 --type f16 --vector 16", 0);
    CHECK(suggested.at("suggested") == json({3, 3, 3}));
    CHECK(suggested.at("swizzle") == json({3, 3, 3}));
    CHECK(suggested.at("tried").size() == 4);

    // Both tables whole, also where the swizzle's name is longer than that of none.
    CHECK_THAT(tool.run("layout swizzle --swizzle 3,10,3").out,
               ContainsSubstring("without swizzle\n  load by ldmatrix") &&
                   ContainsSubstring("with Sw<3,10,3>\n  load by ldmatrix"));

    CHECK(tool.run("layout swizzle --swizzle 3,3").exit_code == 2);
    CHECK(tool.run("layout swizzle --swizzle 3,3,1").exit_code == 2);
    CHECK_THAT(tool.run("layout swizzle --type fp16").err, ContainsSubstring("f16"));
    CHECK_THAT(tool.run("layout swizzle --tile 8x6x4").err, ContainsSubstring("expected 2 integers"));
}

TEST_CASE("layout predicate: the tiles of CuTe's page on predication") {
    const Tool tool;
    const json document = tool.json("layout predicate --extent 41,55 --tile 4,8", 0);
    CHECK(document.at("grid") == json({11, 7}));
    CHECK(document.at("in_bounds") == 41 * 55);
    CHECK(document.at("out_of_bounds") == 11 * 7 * 4 * 8 - 41 * 55);
    const auto counts = document.at("counts").get<std::vector<int>>();
    CHECK(std::accumulate(counts.begin(), counts.end(), 0) == 41 * 55);
    CHECK(counts.front() == 32);
    CHECK(counts.back() == 7);  // one row of seven columns
    CHECK(tool.json("layout predicate --extent 1000 --tile 128", 0).at("counts").back() == 104);
    CHECK(tool.run("layout predicate --extent 41,55 --tile 4").exit_code == 2);
    CHECK(tool.run("layout predicate --extent 41,0 --tile 4,8").exit_code == 2);
    CHECK(tool.run("layout predicate --extent 41,five --tile 4,8").exit_code == 2);
}

#endif
