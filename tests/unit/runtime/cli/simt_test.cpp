// The plain SIMT families as a shell asks for them.

#include "tests/catch.hpp"
#include "tests/support/markup_check.hpp"
#include "tests/support/says.hpp"
#include "tests/support/simt_variants.hpp"
#include "tests/support/tool.hpp"

#ifdef JITGEMM_TOOL

#include <string>

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string asked_for(const std::string& verb, std::string_view family) {
    return verb + " f32 tt 300 200 100 --family " + std::string(family) + " --gpu h200";
}

}  // namespace

TEST_CASE("the tool: list, explain and dump serve each SIMT family") {
    const Tool tool;
    for (const std::string_view family : kSimtFamilies) {
        INFO(family);
        const nlohmann::json list = tool.json(asked_for("list", family), 0);
        const nlohmann::json explanation = tool.json(asked_for("explain --no-compile", family), 0);
        CHECK(list.at("candidates").at(0).at("family") == family);
        CHECK(explanation.at("kernel") == list.at("candidates").at(0).at("kernel"));
        CHECK(explanation.at("roofline").at("peak_tflops") < 100);  // of the FP32 cores
        const ToolResult dump = tool.run(asked_for("dump --main", family));
        CHECK(dump.exit_code == 0);
        CHECK_THAT(dump.out, ContainsSubstring(std::string(family) + "_f32_tt_") && ContainsSubstring("int main()"));
    }
}

TEST_CASE("the tool: explain says that simt_naive has neither pipeline nor shared memory") {
    const std::string text = Tool().run(asked_for("explain --no-compile", "simt_naive") + " --param block=8x32").out;
    CHECK_THAT(text, ContainsSubstring("pipeline        none: operands go from global memory straight into registers"));
    CHECK_THAT(text, ContainsSubstring("None: the kernel uses no shared memory."));
    CHECK_THAT(text, ContainsSubstring("a warp wants 1 element of a column of A, lda apart: 1 cache line\n"));
    CHECK_THAT(text, ContainsSubstring("a warp wants 32 elements of a row of B, one apart: 1 cache line\n"));
}

TEST_CASE("the tool: waves of a grid-stride kernel are counted over its own grid") {
    const nlohmann::json document =
        Tool().json("explain --no-compile f32 tt 4096 4096 512 --family simt_tile2d --param grid=77 --gpu h200", 0);
    CHECK(document.at("waves").at("blocks") == 77);
}

TEST_CASE("the tool: layout kernel draws every family") {
    const Tool tool;
    for (const std::string_view family : kSimtFamilies) {
        const ToolResult result = tool.run(asked_for("layout kernel", family));
        INFO(family << "\n" << result.err);
        CHECK(result.exit_code == 0);
        CHECK(markup_fault(result.out, true).empty());
        CHECK_THAT(result.out, ContainsSubstring("<h2>Tiling</h2>") && ContainsSubstring("<h2>Operands</h2>") &&
                                   ContainsSubstring("<h2>Rasterization</h2>") &&
                                   !ContainsSubstring("<h2>Accumulators</h2>"));
        CHECK(tool.json(asked_for("layout kernel --format json", family), 0).at("shared_a").is_null());
    }
}

TEST_CASE("the tool: a K too deep for shared memory is refused with the bytes, a mistyped parameter with the nearest") {
    const Tool tool;
    const std::string deep = "dump f32 tt 4096 4096 4096 --gpu h200 --family simt_tile2d_shared";
    const ToolResult whole = tool.run(deep);
    CHECK(whole.exit_code == 2);
    CHECK(whole.out.empty());
    CHECK_THAT(whole.err, Says("655360", "shared memory"));
    CHECK(tool.run(deep + " --param panel_k=64").exit_code == 0);
    const ToolResult mistyped = tool.run(deep + " --param panelk=64");
    CHECK(mistyped.exit_code == 2);
    CHECK_THAT(mistyped.err, Says("did you mean", "'panel_k'"));
}

#endif
