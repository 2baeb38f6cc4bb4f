// `jitgemm layout kernel` as a shell runs it.

#include "tests/catch.hpp"
#include "tests/support/markup_check.hpp"
#include "tests/support/tool.hpp"

#ifdef JITGEMM_TOOL

#include <string>

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

const std::string kName = "mma_multistage_bf16_tn_128x128x32_warp64x64_stages4";

}  // namespace

TEST_CASE("layout kernel: a page by default, to stdout or to a file") {
    const Tool tool;
    const ToolResult page = tool.run("layout kernel bf16 tn 512 512 512 --gpu h200");
    CHECK(page.exit_code == 0);
    CHECK(page.err.empty());
    CHECK(markup_fault(page.out, true).empty());

    const std::string file = tool.folder() / "kernel.html";
    const ToolResult written = tool.run("layout kernel bf16 tn 512 512 512 --gpu h200 -o '" + file + "'");
    CHECK(written.exit_code == 0);
    CHECK(written.out == "html written to " + file + "\n");
    CHECK(text_in(file) == page.out);
}

TEST_CASE("layout kernel: the numbers of the page as a document") {
    const Tool tool;
    const json document = tool.json("layout kernel --kernel " + kName + " --gpu h200", 0);
    CHECK(document.at("kernel") == kName);
    CHECK(document.at("spec").at("m") == 4096);  // supposed
    CHECK(document.at("tiling").at("warps") == json({2, 2}));
    CHECK(document.at("shared_a").at("ldmatrix").at("lanes")[31] == json({15, 1, 992}));
    CHECK(document.at("pipeline").at("steps")[3].at("stages")[3] == json({{"state", "copy"}, {"k_tile", 3}}));
    CHECK(document.at("rasterization").at("first_tiles").size() == 264);
    CHECK(document.at("bank_conflicts").size() == 6);
    for (const json& access : document.at("bank_conflicts"))
        if (access.at("in_mainloop")) CHECK(access.at("wavefronts") == access.at("ideal"));
    CHECK(tool.run("layout kernel --kernel " + kName + " --gpu h200 --format json").out ==
          tool.run("layout kernel --kernel " + kName + " --gpu h200 --json").out);
}

TEST_CASE("layout kernel: text, SVG and LaTeX have the tiling picture") {
    const Tool tool;
    const std::string kernel = "layout kernel --kernel " + kName + " --gpu h200 ";
    const ToolResult text = tool.run(kernel + "--format text");
    CHECK_THAT(text.out, ContainsSubstring("pipeline       4 stages, 128 k-tiles"));
    CHECK_THAT(text.out, ContainsSubstring("T31V3"));
    CHECK_THAT(text.err, ContainsSubstring("4096×4096×4096"));
    const ToolResult svg = tool.run(kernel + "--format svg");
    CHECK(markup_fault(svg.out).empty());
    CHECK(count_of(svg.out, ">W3<") == 32);
    CHECK_THAT(tool.run(kernel + "--format latex").out, ContainsSubstring("\\begin{tikzpicture}"));
}

TEST_CASE("layout kernel: wrong usage exits with 2 and writes nothing") {
    const Tool tool;
    const std::string file = tool.folder() / "none.html";
    for (const std::string& wrong :
         {std::string("layout kernel"), "layout kernel --kernel " + kName + " --gpu h200 --m -1 --n 2 --k 3",
          "layout kernel --kernel " + kName + " --gpu h200 --format pdf",
          std::string("layout kernel bf16 tn 64 64 64 --gpu h20"), "layout kernel --kernel " + kName + "x --gpu h200",
          "layout kernel f16 tn 64 64 64 --gpu h200 --kernel " + kName}) {
        INFO(wrong);
        const ToolResult result = tool.run(wrong + " -o '" + file + "'");
        CHECK(result.exit_code == 2);
        CHECK(result.out.empty());
        CHECK(!std::filesystem::exists(file));
    }
    CHECK_THAT(tool.run("layout kernl").err, ContainsSubstring("did you mean 'kernel'"));
    const json both = tool.json("layout kernel --kernel " + kName + " --gpu h200 --format svg", 2);
    CHECK_THAT(both.at("error").at("message").get<std::string>(), ContainsSubstring("contradict"));
    const ToolResult unwritable = tool.run("layout kernel bf16 tn 64 64 64 --gpu h200 -o /nonexistent/x.html");
    CHECK(unwritable.exit_code == 1);
}

#endif
