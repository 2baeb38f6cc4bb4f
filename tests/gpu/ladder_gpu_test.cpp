#ifdef JITGEMM_TOOL

/// `jitgemm ladder` on a GPU: every rung verified and timed.

#include "jitgemm/data_type.hpp"
#include "runtime/cli/ladder/rungs.hpp"
#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

bool has_gpu(const Tool& tool) { return !nlohmann::json::parse(tool.run("doctor --json").out).at("gpus").empty(); }

void check_timed(const nlohmann::json& rung) {
    INFO(rung.dump(1));
    CHECK(rung.at("status") == "ok");
    CHECK(rung.at("microseconds") > 0);
    CHECK(rung.at("tflops") > 0);
    CHECK(rung.at("counts").is_null());
    if (rung.at("kernel").is_null()) return;
    CHECK(rung.at("registers") > 0);
    CHECK(rung.at("share_of_peak") > 0);
    CHECK(rung.at("share_of_peak") < 1.2);  // of the sustained clock, which a short run may exceed
    CHECK(rung.at("global_bytes_source") == "computed");
}

void check_ladder(const nlohmann::json& document, DataType type) {
    CHECK(document.at("emulated") == false);
    REQUIRE(document.at("rungs").size() == ladder_rungs(type).size());
    for (const nlohmann::json& rung : document.at("rungs")) check_timed(rung);
    if (document.at("peer").at("microseconds").is_null()) return;  // no cuBLASLt here
    CHECK(document.at("rungs").at(1).at("share_of_peer") > 0);
}

double microseconds(const nlohmann::json& document, std::size_t rung) {
    return document.at("rungs").at(rung).at("microseconds").get<double>();
}

}  // namespace

TEST_CASE("the tool: a ladder at 512 cubed, every rung verified and timed", "[timing]") {
    const Tool tool;
    if (!has_gpu(tool)) SKIP_TEST("no GPU here");
    const auto f32 = tool.json("ladder f32 tt 512 512 512 --rounds 5", 0);
    check_ladder(f32, DataType::f32);
    CHECK(microseconds(f32, 2) < microseconds(f32, 1));  // coalesced
    CHECK(microseconds(f32, 7) < microseconds(f32, 2));  // hierarchical
    check_ladder(tool.json("ladder f16 tt 512 512 512 --rounds 5 --cpu-limit 0.2", 0), DataType::f16);
}

TEST_CASE("the tool: a ladder whose lowest rungs take their time keeps to it, and writes a page", "[timing]") {
    const Tool tool;
    if (!has_gpu(tool)) SKIP_TEST("no GPU here");
    const std::string page = tool.folder() / "ladder.html";
    const ToolResult result = tool.run("ladder f32 tt 4096 4096 4096 --cpu-limit 0.1 --html '" + page + "'");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.out, ContainsSubstring("refused") && ContainsSubstring("bytes of shared memory") &&
                               ContainsSubstring("~ extrapolated"));
    CHECK_THAT(text_in(page), ContainsSubstring("DRAM") && ContainsSubstring("</html>"));
}

#endif
