#ifdef JITGEMM_TOOL

#include "generator/base/math_promise.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/tool.hpp"

#include <fmt/format.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kSquare = "explain bf16 tn 4096 4096 4096 --gpu a100 --no-compile";

/// "/operands/*/place" for each value, but for those that depend on the kernel.
std::set<std::string> field_paths(const nlohmann::json& document) {
    static const std::regex kIndex("/[0-9]+"), kOfTheKernel("/(spec|parameters|choice)/.*|.*/differs/.*");
    const nlohmann::json flat = document.flatten();
    std::set<std::string> paths;
    for (const auto& [path, value] : flat.items())
        if (!std::regex_match(path, kOfTheKernel)) paths.insert(std::regex_replace(path, kIndex, "/*"));
    return paths;
}

/// The name of the same kernel without a text: "_ep2a1ce583" is the text's part of it.
std::string plain_name(const std::string& name) { return std::regex_replace(name, std::regex("_ep[0-9a-f]+"), ""); }

void check_refused(const std::string& arguments, const std::string& phrase) {
    const Tool tool;
    const ToolResult result = tool.run(arguments);
    INFO(arguments << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, ContainsSubstring(phrase));
    CHECK(tool.json(arguments, 2).at("exit_code") == 2);
}

}  // namespace

TEST_CASE("the tool: explain tells of remainder tiles") {
    const std::string cut =
        "explain f32 nt 4096 4096 4096 --gpu h200 --no-compile --param block=256x128x16,blocks_per_wave=132";
    const ToolResult result = Tool().run(cut);
    CHECK_THAT(result.out, Says("116", "132", "blocks") && Says("116", "remainder"));
    CHECK(Tool().json(cut, 0).at("tiles").at("remainder_tiles") == 116);
    CHECK_THAT(Tool().run(kSquare).out, !ContainsSubstring("remainder tiles"));
}

TEST_CASE("the tool: explain counts the blocks of a whole batch") {
    const std::string batch = "explain bf16 tt 17 17 17 --batch 1000 --gpu h200 --no-compile --param block=32x32x32";
    CHECK_THAT(Tool().run(batch).out, ContainsSubstring("1000 blocks on "));
    CHECK(Tool().json(batch, 0).at("waves").at("blocks") == 1000);
}

TEST_CASE("the tool: explain tells of stream-K") {
    const Tool tool;
    const std::string partly_filled = " bf16 tn 1664 3072 4096 --gpu h200";
    const ToolResult text = tool.run("explain --no-compile" + partly_filled +
                                     " --param block=128x256x64,warpgroup=64x256,cluster=1x1,swap_ab=0,stream_k=132");
    CHECK_THAT(text.out,
               ContainsSubstring("_streamk132\n") && Says("132", "blocks", "156") && !ContainsSubstring("a guess"));
}

TEST_CASE("the tool: explain tells what an epilogue reads, computes and adds to the time") {
    const Tool tool;
    const std::string gated =
        "explain bf16 tn 4096 14336 4096 --gpu h200 --no-compile --epilogue 'd = silu(acc + bias[n]) * up[m,n]'";
    CHECK_THAT(tool.run(gated).out, Says("2 special functions", "others", "117.5 MB", "117.4 MB", "us more than"));
    const auto cost = tool.json(gated, 0).at("epilogue");
    CHECK(cost.at("read_bytes") == 2.0 * (14336 + 4096 * 14336));
    CHECK(cost.at("written_bytes") == 2.0 * 4096 * 14336);
    CHECK(cost.at("special_operations") == 2);  // a power and a quotient
    CHECK(cost.at("extra_microseconds") > 0);
    const auto named = tool.json(
        "explain bf16 tn 4096 14336 4096 --gpu h200 --no-compile --param block=128x256x64,warpgroup=64x256", 0);
    CHECK_FALSE(named.contains("epilogue"));
}

TEST_CASE("the tool: the time without the text is that of the same kernel for the plain product") {
    const Tool tool;
    const std::string problem = " bf16 tn 4096 14336 4096 --gpu h200 --no-compile";
    const std::string tile = " --param block=128x192x64,schedule=pingpong";
    const std::string text = " --epilogue 'pre: f32[m,n]; t = acc + bias[n]; pre[m,n] = t; d = gelu(t)'";
    const auto fused = tool.json("explain" + problem + text + tile, 0);
    const auto plain = tool.json("explain" + problem + " --kernel " + plain_name(fused.at("kernel")), 0);
    CHECK(fused.at("epilogue").at("plain_microseconds") == plain.at("predicted_microseconds"));
    CHECK(fused.at("epilogue").at("written_bytes") == (2.0 + 4.0) * 4096 * 14336);
    CHECK(fused.at("predicted_microseconds").get<double>() - plain.at("predicted_microseconds").get<double>() ==
          fused.at("epilogue").at("extra_microseconds").get<double>());
}

TEST_CASE("the tool: explain names the way to pairs that no kernel serves") {
    const Tool tool;
    const std::string pairs = "explain f32 tn 64 64 64 --gpu h200 --no-compile --epilogue ";
    const ToolResult unserved = tool.run(pairs + "'d[m,h] = silu(left(acc)) * right(acc)'");
    CHECK(unserved.exit_code == 2);
    CHECK_THAT(unserved.err,
               Says("pairs of columns need A and B of 8 or 16 bits") && Says("jg.matmul", "two products"));
    const ToolResult other = tool.run("explain tf32 tn 1 8 8 --gpu a100 --no-compile --family wgmma_warp_specialized");
    CHECK(other.exit_code == 2);
    CHECK_THAT(other.err, !ContainsSubstring("jg.matmul"));
}

TEST_CASE("the tool: explain tells of prepared operands, and what launches without them take") {
    const Tool tool;
    const std::string parts = "explain f32 tt 4096 4096 4096 --math f16x3 --prepared ab --gpu h200 --no-compile";
    CHECK_THAT(tool.run(parts).out, ContainsSubstring("math=f16x3 prepared=ab on h200") &&
                                        ContainsSubstring("f32 in parts of f16x3, 4096 lines of k=4096; a copy of") &&
                                        ContainsSubstring("from the prepared copy in parts"));
    const auto json = tool.json(parts, 0);
    CHECK(json.at("prepared").at("operands").size() == 2);
    CHECK(json.at("prepared").at("operands").at(1).at("operand") == "b");
    CHECK(json.at("prepared").at("unprepared_microseconds") > json.at("predicted_microseconds"));
    const std::string lies = "explain bf16 tn 4096 4096 4096 --prepared b --gpu h200 --no-compile";
    CHECK_THAT(tool.run(lies).out, ContainsSubstring("kernels read it as it lies"));
    CHECK_FALSE(tool.json(kSquare, 0).contains("prepared"));
}

TEST_CASE("the tool: explain tells what each math promises, and what it does not") {
    const Tool tool;
    for (const jitgemm::MathPromise& promise : jitgemm::math_promises()) {
        const std::string problem =
            fmt::format("explain f32 tn 4096 4096 4096 --math {} --gpu h200 --no-compile", to_string(promise.math));
        CHECK_THAT(tool.run(problem).out, ContainsSubstring("|error| <= " + std::string(promise.bound) + "\n") &&
                                              ContainsSubstring(std::string(promise.limits)));
        const nlohmann::json json = tool.json(problem, 0).at("promise");
        CHECK(json.at("error_at_most") == promise.bound);
        CHECK(json.at("limits") == promise.limits);
    }
    const std::string exact = "explain f32 tn 4096 4096 4096 --gpu h200 --no-compile";
    CHECK_FALSE(tool.json(exact, 0).contains("promise"));
    CHECK(tool.run(exact).out.find("promises") == std::string::npos);
}

TEST_CASE("the tool: explain and list tell of a kernel whose time is a guess") {
    const Tool tool;
    const std::string problem = " bf16 tn 1664 2304 4096 --gpu h200";
    const ToolResult text = tool.run("explain --no-compile" + problem + " --param a_source=rmem");
    CHECK_THAT(text.out, ContainsSubstring(", a guess: "));
    const ToolResult free = tool.run("explain --no-compile" + problem);
    CHECK_THAT(free.out, ContainsSubstring("Predicted to be the fastest of") && !ContainsSubstring("a guess"));
    const ToolResult list = tool.run("list --limit 3" + problem + " --param a_source=rmem");
    CHECK_THAT(list.out, ContainsSubstring("_a-rmem") && ContainsSubstring(", for the tuner alone\n"));
}

TEST_CASE("the tool: explain's JSON has the fields that programs read, and the page names each") {
    const nlohmann::json document = Tool().json(kSquare, 0);
    const std::string page = text_in(JITGEMM_SOURCE_DIR "/docs/explore.md");
    std::set<std::string> expected;
    std::istringstream lines(text_in(JITGEMM_SOURCE_DIR "/tests/data/explain_fields.txt"));
    for (std::string line; std::getline(lines, line);) expected.insert(line);
    CHECK(field_paths(document) == expected);
    for (const auto& [field, value] : document.items()) {
        INFO(field);
        CHECK_THAT(page, ContainsSubstring("`" + field + "`"));
    }
    CHECK(document.at("registers").at("measured").is_null());
    CHECK(document.at("free_choice").is_null());
    CHECK(document.at("roofline").at("flops") == 2.0 * 4096 * 4096 * 4096);
}

TEST_CASE("the tool: explain tells of the kernel that list puts first and dump prints") {
    const Tool tool;
    const nlohmann::json first =
        tool.json("list bf16 tn 4096 4096 4096 --gpu a100 --limit 1", 0).at("candidates").at(0);
    const nlohmann::json explained = tool.json(kSquare, 0);
    for (const char* field : {"kernel", "family", "parameters", "predicted_microseconds", "predicted_tflops", "cost"})
        CHECK(explained.at(field) == first.at(field));

    const std::string runner_up = explained.at("runners_up").at(3).at("kernel");
    const nlohmann::json forced = tool.json(kSquare + " --kernel " + runner_up, 0);
    CHECK(forced.at("kernel") == runner_up);
    CHECK(forced.at("predicted_microseconds") == explained.at("runners_up").at(3).at("predicted_microseconds"));
    CHECK(forced.at("free_choice").at("kernel") == first.at("kernel"));
}

TEST_CASE("the tool: explain is a page for people") {
    const Tool tool;
    const ToolResult page = tool.run(kSquare);
    CHECK(page.exit_code == 0);
    CHECK(page.err.empty());
    for (const char* phrase : {"Why this one", "Predicted to be the fastest of", "Roofline", "the ridge is at 192.0",
                               "Waves and occupancy", "estimated", "--no-compile", "ldmatrix x4", "no trans",
                               "Bank conflicts", "runner-up 5", "rejected", "bytes of shared memory"})
        CHECK_THAT(page.out, ContainsSubstring(phrase));

    const ToolResult padded = tool.run(kSquare + " --param shared=padding,block=128x128x32,warp=64x64");
    CHECK_THAT(padded.out, Says("64", "bytes", "80") && ContainsSubstring("free choice"));
    const ToolResult turned = tool.run("explain bf16 nn 1000 500 64 --d-layout n --arch sm_80 --no-compile");
    CHECK_THAT(turned.out, ContainsSubstring("D is column-major"));
    const ToolResult empty = tool.run("explain bf16 tn 0 64 64 --arch sm_80 --no-compile");
    CHECK(empty.exit_code == 0);
    CHECK_THAT(empty.out, ContainsSubstring("Nothing to launch"));
}

TEST_CASE("the tool: explain says of a Hopper kernel why no bank conflicts are counted, and how often it loads") {
    const Tool tool;
    const ToolResult wgmma = tool.run("explain bf16 tn 4096 4096 4096 --gpu h200 --no-compile");
    CHECK_THAT(wgmma.out, Says("TMA", "swizzled"));
    CHECK(wgmma.out.find("no shared memory") == std::string::npos);
    const std::string sliced = tool.run(
                                       "explain bf16 tn 8 4096 4096 --gpu h200 --no-compile --kernel "
                                       "mma_sliced_k_bf16_tn_64x8x512_swapab_stages2")
                                   .out;
    CHECK_THAT(sliced, Says("ldmatrix", "x4", "1", "2"));
    CHECK_THAT(sliced, Says("ldmatrix", "x4", "4"));
}

TEST_CASE("the tool: explain estimates registers where there is no NVRTC, and says so") {
    const Tool tool;
    const std::string problem = "explain bf16 tn 64 64 64 --arch sm_80";
    const nlohmann::json document = tool.json(problem, 0, "JITGEMM_NVRTC=/nowhere/libnvrtc.so");
    CHECK(document.at("registers").at("measured").is_null());
    const auto source = document.at("registers").at("source").get<std::string>();
    CHECK(source.starts_with("estimate: found no NVRTC"));
    CHECK(source.find_first_of(";:", std::string("estimate:").size()) == std::string::npos);  // a whole sentence
}

TEST_CASE("the tool: explain refuses what it cannot explain") {
    check_refused("explain bf16 tn 64 64 --arch sm_80", "64");
    check_refused("explain bf17 tn 64 64 64 --arch sm_80", "did you mean 'bf16'");
    check_refused("explain tf32 tn 64 64 64 --arch sm_80", "tf32");
    check_refused("explain bf16 tn 64 64 64 --arch sm_80 --param stagess=2", "stages");
    check_refused("explain bf16 tn 64 64 64 --arch sm_80 --param stages=17", "stages = 17");
    check_refused("explain bf16 tn 64 64 64 --arch sm_80 --kernel nonsense", "nonsense");
    check_refused("explain bf16 tn 64 64 64 --arch sm_9a", "sm_90a");
    check_refused("explain bf16 tn 64 64 64 --arch sm_80 --no-compil", "--no-compil");
}

#endif
