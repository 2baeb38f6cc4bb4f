// Compiles the LaTeX form of pictures as a reader would.

#include "generator/draw/picture.hpp"

#include "runtime/support/file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

Picture largest_picture() {
    Grid grid{"A (m, k)", "m", "k", 64, 128, {}};
    for (int i = 0; i < kMostCells; ++i)
        grid.cells.push_back({{fmt::format("T{}", i % 32), fmt::format("V{}", i % 8)}, i % 32, ""});
    return {"largest", {grid}, {}};
}

/// All that LaTeX could stumble over.
Picture awkward_picture() {
    const std::string special = "<\"x\"> & 'y' `z` \\ {x} 50% $5 #1 a_b a^b ~ | -- × → ≤ ⊕ α \x01 \xFF";
    Grid grid{special, special, special,
              1,       3,       {{{special, special}, -1, special}, {{}, 0, ""}, {{"", "[1]", "*"}, 1, ""}}};
    return {special, {grid}, {special}};
}

}  // namespace

TEST_CASE("pdflatex compiles a picture, also the largest one and one full of special characters") {
    if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) SKIP_TEST("no pdflatex here");  // NOLINT
    const TemporaryFolder folder;
    for (const Picture& picture : {awkward_picture(), largest_picture(), Picture{}}) {
        put_text(folder / "picture.tex", picture_latex(picture));
        const std::string command = fmt::format(
            "cd '{}' && timeout 120 pdflatex -halt-on-error -interaction=nonstopmode picture.tex >log 2>&1 </dev/null",
            folder.path());
        const int status = std::system(command.c_str());  // NOLINT(bugprone-command-processor): as a reader compiles it
        INFO(text_in(folder / "log"));
        REQUIRE(status == 0);
        CHECK(text_in(folder / "picture.pdf").starts_with("%PDF-"));
    }
}
