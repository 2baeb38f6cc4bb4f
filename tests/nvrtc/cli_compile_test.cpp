#ifdef JITGEMM_TOOL

#include "generator/kernel_set.hpp"
#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <filesystem>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kProblem = "bf16 tn 1000 777 333 --arch sm_80";
const std::string kNoGpu = "CUDA_VISIBLE_DEVICES=-1";

bool has_nvrtc(const Tool& tool) {
    const nlohmann::json report = nlohmann::json::parse(tool.run("doctor --json", kNoGpu).out);
    for (const auto& check : report.at("checks")) {
        if (check.at("name") == "compile") return check.at("ok");
    }
    return false;
}

std::string binary_of_only_entry(const Tool& tool) {
    const auto entries = tool.json("cache ls", 0).at("entries");
    REQUIRE(entries.size() == 1);
    return tool.cache() + "/" + entries.at(0).at("directory").get<std::string>() + "/kernel.cubin";
}

}  // namespace

TEST_CASE("the tool: dump emits PTX and a cubin, without any GPU") {
    const Tool tool;
    if (!has_nvrtc(tool)) SKIP_TEST("no NVRTC here");
    const ToolResult ptx = tool.run("dump " + kProblem + " --emit ptx", kNoGpu);
    INFO(ptx.err);
    CHECK(ptx.exit_code == 0);
    CHECK_THAT(ptx.out, ContainsSubstring(".target sm_80") && ContainsSubstring("mma.sync"));

    const std::string file = tool.folder() / "kernel.cubin";
    const nlohmann::json cubin = tool.json("dump " + kProblem + " --emit cubin -o '" + file + "'", 0, kNoGpu);
    CHECK(
        text_in(file).starts_with("\x7f"
                                  "ELF"));
    CHECK(cubin.at("compiled").at("registers").get<int>() > 0);
    CHECK(cubin.at("file") == file);
    CHECK(tool.run("dump " + kProblem + " --emit cubin --json", kNoGpu).exit_code == 2);
}

TEST_CASE("the tool: dump emits SASS where a disassembler is, and says what is missing where none is") {
    const Tool tool;
    if (!has_nvrtc(tool)) SKIP_TEST("no NVRTC here");
    const ToolResult sass = tool.run("dump " + kProblem + " --emit sass", kNoGpu);
    if (sass.exit_code == 0)
        CHECK_THAT(sass.out, ContainsSubstring("HMMA.16816.F32.BF16"));
    else
        CHECK_THAT(sass.err, ContainsSubstring("cuobjdump"));
}

TEST_CASE("the tool: without NVRTC a compile says what was looked for, where, and which wheel would do") {
    const Tool tool;
    const ToolResult result =
        tool.run("dump " + kProblem + " --emit ptx", "JITGEMM_NVRTC=/no/such/libnvrtc.so " + kNoGpu);
    CHECK(result.exit_code == 1);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, ContainsSubstring("/no/such/libnvrtc.so") && ContainsSubstring("nvidia-cuda-nvrtc"));
}

TEST_CASE("the tool: the cache is listed, explained, checked, healed and cleared") {
    const Tool tool;
    if (!has_nvrtc(tool)) SKIP_TEST("no NVRTC here");
    CHECK(tool.json("cache why " + kProblem, 0, kNoGpu).at("hit") == false);
    REQUIRE(tool.run("dump " + kProblem + " --emit sass -o /dev/null", kNoGpu).exit_code <= 1);
    CHECK(tool.json("cache why " + kProblem, 0, kNoGpu).at("hit") == true);
    CHECK(tool.json("cache info", 0).at("entry_count") == 1);
    CHECK(tool.json("cache verify", 0).at("damaged") == 0);

    put_text(binary_of_only_entry(tool), "not a cubin");
    CHECK(tool.json("cache verify", 1).at("damaged") == 1);
    CHECK(tool.json("cache verify --drop", 0).at("dropped") == 1);
    CHECK(tool.json("cache ls", 0).at("entries").empty());

    REQUIRE(tool.run("dump " + kProblem + " --emit sass -o /dev/null", kNoGpu).exit_code <= 1);
    CHECK(tool.json("cache clear", 0).at("removed") == 1);
}

TEST_CASE("the tool: kernels export compiles each text of the set once, and keeps it in the cache") {
    const Tool tool;
    const std::string folder = tool.folder() / "set";
    const std::string words = "kernels export bf16 tn m=1:200 n=64 k=64 --gpu a100 --most 2 -o '" + folder + "'";
    const nlohmann::json exported = tool.json(words, 0, kNoGpu);
    int cubins = 0;
    for (const auto& file : exported.at("files")) {
        INFO(file);
        const std::string name = file.get<std::string>();
        CHECK(std::filesystem::file_size(folder + "/" + name) > 0);
        if (name.ends_with(".cubin")) ++cubins;
    }
    CHECK(parse_kernel_set(exported.at("set").dump()).body_count() == static_cast<std::size_t>(cubins));
    CHECK(tool.json("cache ls", 0).at("entries").size() == static_cast<std::size_t>(cubins));
    CHECK(tool.run(words, kNoGpu).exit_code == 1);
    CHECK(tool.run(words + " --force", kNoGpu).exit_code == 0);
}

TEST_CASE("the tool: export writes a folder, and not over another one unless forced") {
    const Tool tool;
    if (!has_nvrtc(tool)) SKIP_TEST("no NVRTC here");
    const std::string folder = tool.folder() / "taken";
    const nlohmann::json exported = tool.json("export " + kProblem + " -o '" + folder + "'", 0, kNoGpu);
    for (const auto& file : exported.at("files"))
        CHECK(std::filesystem::exists(folder + "/" + file.get<std::string>()));
    CHECK(std::filesystem::exists(folder + "/meta.json"));
    CHECK(tool.run("export " + kProblem + " -o '" + folder + "'", kNoGpu).exit_code == 1);
    CHECK(tool.run("export " + kProblem + " -o '" + folder + "' --force", kNoGpu).exit_code == 0);
}

#endif
