#include "generator/draw/picture.hpp"

#include "generator/draw/markup.hpp"
#include "generator/layout/int_tuple.hpp"
#include "tests/catch.hpp"
#include "tests/support/markup_check.hpp"
#include "tests/support/says.hpp"

#include <fmt/format.h>

#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// rows × columns cells, thread by thread along a row.
Grid grid_of(int rows, int columns) {
    Grid grid{"A (m, k)", "m", "k", rows, columns, {}};
    for (int i = 0; i < rows * columns; ++i) {
        const int thread = i / 2 % 32;
        grid.cells.push_back({{fmt::format("T{}", thread), fmt::format("V{}", i % 2)},
                              thread,
                              fmt::format("thread {}, value {}", thread, i % 2)});
    }
    return grid;
}

/// All that a form could stumble over.
Picture awkward_picture() {
    Picture picture{
        "<\"title\"> & 'more' \\ {x} 50% $5 #1 a_b a^b ~ |", {grid_of(2, 3)}, {"note: m × n → k ≤ 5 ⊕ α \x01"}};
    picture.grids[0].cells[0] = {{"<T0>", "&"}, -1, "\"hint\" <&>"};
    picture.grids[0].cells[1] = {{}, 0, ""};
    return picture;
}

std::string without_cells_message(const Picture& picture) {
    try {
        check_picture(picture);
    } catch (const LayoutError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("a picture as text: columns aligned, one line per row where that fits") {
    CHECK(picture_text({"title", {grid_of(2, 4)}, {"a note"}}) ==
          "title\n"
          "\n"
          "A (m, k)\n"
          "m │ k\n"
          "  │     0     1     2     3\n"
          "──┼────────────────────────\n"
          "0 │  T0V0  T0V1  T1V0  T1V1\n"
          "1 │  T2V0  T2V1  T3V0  T3V1\n"
          "\n"
          "a note\n");
}

TEST_CASE("a wide grid has its cells' lines below each other") {
    const std::string text = picture_text({"", {grid_of(1, 40)}, {}});
    CHECK_THAT(text, ContainsSubstring("0 │  T0  T0  T1"));
    CHECK_THAT(text, ContainsSubstring("\n  │  V0  V1  V0"));
    CHECK(text.find("T0V0") == std::string::npos);
}

TEST_CASE("a picture as SVG is well-formed, loads nothing and has a cell for each element") {
    const Picture picture{"two", {grid_of(16, 8), grid_of(8, 16)}, {"note"}};
    const std::string svg = picture_svg(picture);
    CHECK(markup_fault(svg).empty());
    CHECK(!loads_something(svg));
    CHECK(svg.find("<script") == std::string::npos);
    CHECK(count_of(svg, "<path ") == 2 * 128);
    CHECK(count_of(svg, "<title>thread ") == 2 * 128);
    CHECK_THAT(svg, ContainsSubstring("prefers-color-scheme:dark"));
    CHECK_THAT(svg, ContainsSubstring(">m ↓<"));
    CHECK_THAT(svg, ContainsSubstring(">k →<"));
    CHECK(svg.size() < 60000);
}

TEST_CASE("a picture as a page is well-formed, loads nothing and knows owner and hint of each cell") {
    const std::string html = picture_html({"page", {grid_of(16, 8)}, {"note"}});
    CHECK(markup_fault(html, true).empty());
    CHECK(!loads_something(html));
    CHECK(count_of(html, " data-h=\"thread ") == 128);
    CHECK(count_of(html, " data-k=\"T5\"") == 4);
}

TEST_CASE("every form escapes its own characters") {
    const Picture picture = awkward_picture();
    const std::string svg = picture_svg(picture);
    const std::string html = picture_html(picture);
    CHECK(markup_fault(svg).empty());
    CHECK(markup_fault(html, true).empty());
    for (const std::string& markup : {svg, html}) {
        CHECK_THAT(markup, ContainsSubstring("&lt;&quot;title&quot;&gt; &amp; &#39;more&#39;"));
        CHECK_THAT(markup, ContainsSubstring("&quot;hint&quot; &lt;&amp;&gt;"));
        CHECK(markup.find('\x01') == std::string::npos);
    }
    const std::string latex = picture_latex(picture);
    CHECK_THAT(latex, ContainsSubstring("50\\% \\$5 \\#1 a\\_b a\\textasciicircum{}b \\textasciitilde{} $|$"));
    CHECK_THAT(latex, ContainsSubstring("\\textbackslash{} \\{x\\}"));
    CHECK_THAT(latex, ContainsSubstring("$\\times$ n $\\rightarrow$ k $\\leq$ 5 $\\oplus$ U+03B1 U+0001"));
}

TEST_CASE("text that is no UTF-8 leaves markup well-formed") {
    for (const std::string& text :
         {std::string("\xC3"), std::string("a\x80z"), std::string("\xFF\xFE"), std::string("\xE2\x82")}) {
        INFO(text.size());
        CHECK(markup_fault("<a>" + escape_markup(text) + "</a>").empty());
        CHECK(!escape_latex(text).empty());
    }
}

TEST_CASE("a picture too large, or a grid that lacks cells, is refused and the limit stated") {
    CHECK_NOTHROW(check_picture({"", {grid_of(64, 128)}, {}}));
    const Picture large{"", {grid_of(64, 128), grid_of(1, 1)}, {}};
    CHECK(without_cells_message(large) == "the picture would have 8193 cells; at most 8192 are drawn");
    for (const auto& form : {picture_text, picture_svg, picture_latex, picture_html})
        CHECK_THROWS_AS(form(large), LayoutError);
    Picture torn{"", {grid_of(2, 2)}, {}};
    torn.grids[0].cells.pop_back();
    CHECK_THAT(without_cells_message(torn), Says("'A (m, k)'", "2", "columns", "3"));
    CHECK_THROWS_WITH(picture_latex({"", {grid_of(1, 8192)}, {}}), Says("LaTeX", "560"));
}
