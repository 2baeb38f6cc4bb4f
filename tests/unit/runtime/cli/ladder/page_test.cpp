#include "runtime/cli/ladder/report.hpp"

#include "generator/draw/scales.hpp"
#include "runtime/cli/ladder/charts.hpp"
#include "tests/catch.hpp"
#include "tests/support/ladder_reports.hpp"
#include "tests/support/markup_check.hpp"

#include <string>

using namespace jitgemm;
using namespace jitgemm::cli;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("ladder page: well-formed, self-contained, with each rung's source and what changed in it") {
    for (const LadderReport& report : {made_up_ladder(), made_up_counts()}) {
        const std::string html = ladder_page(report);
        REQUIRE(markup_fault(html, true).empty());
        REQUIRE_FALSE(loads_something(html));
        REQUIRE_THAT(html, ContainsSubstring("if (a &lt; b &amp;&amp; c &gt; d) e();"));
        REQUIRE_THAT(html, ContainsSubstring("<span class=\"del\">- int x = 1;</span>"));
        REQUIRE_THAT(html, ContainsSubstring("<span class=\"add\">+ int x = 2;</span>"));
        REQUIRE_THAT(html, ContainsSubstring("against “naive”"));
        REQUIRE_THAT(html, ContainsSubstring("It is the kernel of rung 3, wmma."));
        REQUIRE_THAT(html, ContainsSubstring("the panels take 655360 bytes"));
        REQUIRE_THAT(html, ContainsSubstring("What changed &amp; why &lt;it&gt; is faster."));
    }
}

TEST_CASE("ladder page: times are drawn under a roofline, counts are not") {
    REQUIRE_THAT(ladder_roofline(made_up_ladder()), ContainsSubstring("DRAM 4.8 TB/s"));
    REQUIRE(ladder_roofline(made_up_counts()).empty());
    REQUIRE_THAT(ladder_bars(made_up_ladder()), ContainsSubstring("cuBLASLt 500.00"));
    REQUIRE_THAT(ladder_bars(made_up_counts()), ContainsSubstring("sectors of 32 bytes"));
}

TEST_CASE("ladder page: a ladder without a figure is a page all the same") {
    LadderReport report = made_up_ladder();
    report.peer = {"", std::nullopt, "no library"};
    report.rungs = {report.rungs[2]};
    REQUIRE(markup_fault(ladder_page(report), true).empty());
    report.rungs.clear();
    REQUIRE(markup_fault(ladder_page(report), true).empty());
}

TEST_CASE("bar chart: a longer bar for a larger value, none without one") {
    const std::vector<Bar> bars{
        {"a", 1.0, "1", "", 0}, {"b", 100.0, "100", "", 1}, {"c", std::nullopt, "refused", "", 2}};
    const std::string svg = bar_chart("speed", "TFLOP/s", bars, std::nullopt, BarScale::linear);
    const auto width_of = [&](const std::string& color) {
        const std::size_t group = svg.find("<g class=\"" + color + "\"");
        if (group == std::string::npos) return 0;
        return std::stoi(svg.substr(svg.find('h', svg.find(" d=\"M", group)) + 1));
    };
    REQUIRE(width_of("c0") > 0);
    REQUIRE(width_of("c1") > width_of("c0"));
    REQUIRE(width_of("c2") == 0);
    REQUIRE_THAT(svg, ContainsSubstring("refused"));
    REQUIRE_THAT(svg, ContainsSubstring("TFLOP/s<"));
}

TEST_CASE("bar chart: on a logarithmic scale, which has no zero, marks of one size and an axis that says so") {
    const std::string svg =
        bar_chart("speed", "TFLOP/s", {{"a", 2e4, "20000", "", 0}, {"b", 5e6, "5000000", "", 1}}, std::nullopt);
    REQUIRE_THAT(svg, ContainsSubstring("TFLOP/s, log scale"));
    REQUIRE_THAT(svg, ContainsSubstring(">10⁷<"));
    REQUIRE_THAT(svg, ContainsSubstring("<g class=\"c0 d\""));
    REQUIRE(count_of(svg, "h9v9h-9z") == 2);
}

TEST_CASE("ticks: powers of ten are raised, other large numbers have a factor") {
    REQUIRE(power_text(0.01) == "0.01");
    REQUIRE(power_text(1000) == "1000");
    REQUIRE(power_text(1e6) == "10⁶");
    REQUIRE(power_text(2.5e7) == "2.5·10⁷");
    REQUIRE(power_text(1e-12) == "10⁻¹²");
}

TEST_CASE("ladder page: colours have a legend, and tiles larger than the problem are named") {
    LadderReport report = made_up_counts();
    REQUIRE_THAT(ladder_page(report),
                 ContainsSubstring("class=\"legend\"") && !ContainsSubstring("work that is thrown away"));
    report.spec = resolved({.m = 65, .n = 64, .k = 64, .layout = GemmLayout::tt});
    report.rungs.back().kernel->tile = {128, 64, 32};
    REQUIRE_THAT(ladder_page(report), ContainsSubstring("Its tiles of 128×64 cover 1.97 times the elements of D"));
}
