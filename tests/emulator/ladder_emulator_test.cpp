#ifdef JITGEMM_TOOL

/// `jitgemm ladder` on the emulator, as a shell sees it.

#include "runtime/cli/ladder/rungs.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/tool.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::uint64_t kSectorBytes = 32;

/// All rungs are there in order, and each was verified.
void check_rungs(const nlohmann::json& document, DataType type) {
    const std::vector<Rung> rungs = ladder_rungs(type);
    REQUIRE(document.at("rungs").size() == rungs.size());
    for (std::size_t i = 0; i < rungs.size(); ++i) {
        const nlohmann::json& rung = document.at("rungs").at(i);
        INFO(rung.dump(1));
        CHECK(rung.at("name") == rungs[i].name);
        CHECK(rung.at("status") == "ok");
        if (rungs[i].kind == RungKind::cpu) continue;
        CHECK(rung.at("counts").at("instructions") > 0);
        CHECK(rung.at("microseconds").is_null());
        CHECK(rung.at("global_bytes") == rung.at("counts").at("sectors").get<std::uint64_t>() * kSectorBytes);
        const bool tensor = rung.at("math_unit") == "tensor cores";
        CHECK((rung.at("counts").at("tensor_operations") > 0) == tensor);
    }
}

}  // namespace

TEST_CASE("cli ladder: every f32 rung on the emulator, verified, with what it counts") {
    const Tool tool;
    const auto document = tool.json("ladder f32 tt 128 128 64 --device emulator", 0);
    CHECK(document.at("emulated") == true);
    CHECK(document.at("interrupted") == false);
    check_rungs(document, DataType::f32);
}

TEST_CASE("cli ladder: every f16 rung on the emulator, verified, with what it counts") {
    const Tool tool;
    const auto document = tool.json("ladder f16 tt 256 128 64 --device emulator:sm_90a --cpu-limit 0.1", 0);
    CHECK(document.at("device") == "emulator (sm_90a)");
    check_rungs(document, DataType::f16);
    const auto conflicts = [&](std::size_t rung) {
        return document.at("rungs").at(rung).at("bank_conflicts").get<double>();
    };
    CHECK(conflicts(8) > 2);             // rows of 64 bytes: eight of them share two sets of banks
    CHECK(conflicts(9) < conflicts(8));  // padding keeps them apart
}

TEST_CASE("cli ladder: odd sizes, another layout, C, and a page") {
    const Tool tool;
    const std::string page = tool.folder() / "ladder.html";
    const ToolResult result = tool.run("ladder bf16 tn 41 55 70 --beta 2 --device emulator --html '" + page + "'");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.out, ContainsSubstring("19 fastest") && ContainsSubstring("page: "));
    CHECK_THAT(result.out, !ContainsSubstring("wrong") && !ContainsSubstring("failed"));
    const std::string html = text_in(page);
    CHECK_THAT(html, ContainsSubstring("</html>") && ContainsSubstring("What changed in the source against"));
}

TEST_CASE("cli ladder: a rung that cannot serve the problem says why, and the ladder goes on") {
    const Tool tool;
    const auto document = tool.json("ladder f32 tt 8 8 4096 --device emulator --cpu-limit 0", 0);
    const auto& rungs = document.at("rungs");
    CHECK(rungs.at(0).at("status") == "skipped");
    CHECK(rungs.at(4).at("status") == "refused");
    CHECK_THAT(rungs.at(4).at("reason").get<std::string>(), Says("655360", "shared memory"));
    CHECK(rungs.at(5).at("status") == "ok");
}

TEST_CASE("cli ladder: wrong usage is told before anything runs, and no page is left") {
    const Tool tool;
    const std::string page = tool.folder() / "ladder.html";
    const auto refused = [&](const std::string& arguments, const std::string& words) {
        const ToolResult result = tool.run("ladder --device emulator --html '" + page + "' " + arguments);
        INFO(arguments << '\n' << result.err);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err, ContainsSubstring(words));
        CHECK(result.out.empty());
    };
    refused("--type e4m3", "e4m3");
    refused("--m 0", "m is 0");
    refused("--cpu-limit -1", "--cpu-limit is -1");
    refused("--rounds 0", "--rounds is 0");
    refused("--m 8192 --n 8192 --k 8192", "the limit is 20 GFLOP");
    refused("--famly simt_naive", "unknown option '--famly'");
    refused("f32 tt 64 64", "'f32 tt 64 64'");
    CHECK_FALSE(std::filesystem::exists(page));
    CHECK_THAT(tool.run("ladder --device emulator --html /no/such/folder/x.html").err,
               ContainsSubstring("there is no folder /no/such/folder"));
    CHECK_THAT(tool.run("lader").err, Says("did you mean", "'ladder'"));
}

TEST_CASE("cli ladder: Ctrl-C leaves a whole document of what was measured, and no page") {
    const Tool tool;
    const std::string page = tool.folder() / "ladder.html";
    const std::string out = tool.folder() / "out.json";
    // A shell starts the tool, waits until a rung is done (its kernel is in the cache), and interrupts it.
    const ToolResult result = tool.run("ladder f32 tt 512 512 512 --device emulator --json --cpu-limit 0 --html '" +
                                       page + "' >'" + out + "' & tool=$!; sleep 4; kill -INT $tool; wait $tool");
    INFO(result.err);
    CHECK(result.exit_code == 130);
    REQUIRE(nlohmann::json::accept(text_in(out)));
    const auto document = nlohmann::json::parse(text_in(out));
    CHECK(document.at("interrupted") == true);
    CHECK(document.at("rungs").size() < ladder_rungs(DataType::f32).size());
    CHECK_FALSE(std::filesystem::exists(page));
}

#endif
