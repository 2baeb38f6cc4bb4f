#ifdef JITGEMM_TOOL

#include "runtime/cuda/driver.hpp"
#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>

/// \file jitgemm warm: the real compiler, and no GPU.

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

const std::string kNoGpu = "CUDA_VISIBLE_DEVICES=-1";
const std::vector<std::string> kProblems{"f32 tt 33 65 17", "f32 nn 64 64 64", "f32 tn 5 7 9",
                                         "f32 nt 8 8 8",    "f16 tt 33 65 17", "f16 nn 64 64 64"};

/// The tool, and a file of shapes.
class WarmTool {
public:
    explicit WarmTool(const std::vector<std::string>& lines = kProblems) {
        std::string text;
        for (const std::string& line : lines) text += line + "\n";
        put_text(shapes(), text);
    }
    [[nodiscard]] std::string shapes() const { return tool.folder() / "shapes.txt"; }
    [[nodiscard]] std::string words(const std::string& more = {}) const {
        return fmt::format("warm --shapes '{}' --gpu a100 --jobs 2 {}", shapes(), more);
    }
    [[nodiscard]] Json json(int exit_code = 0, const std::string& settings = {}) const {
        return tool.json(words(), exit_code, kNoGpu + " " + settings);
    }
    /// Names of the kernels that the cache holds; every entry is sound.
    [[nodiscard]] std::set<std::string> kernels() const {
        std::set<std::string> names;
        CHECK(tool.run("cache verify").exit_code == 0);
        const Json listed = tool.json("cache ls", 0);
        for (const Json& entry : listed.at("entries")) names.insert(entry.at("kernel"));
        return names;
    }
    /// Names of the kernels that these problems are served by.
    [[nodiscard]] std::set<std::string> chosen(const std::vector<std::string>& problems) const {
        std::set<std::string> names;
        for (const std::string& problem : problems)
            names.insert(tool.json("list --limit 1 --gpu a100 " + problem, 0, kNoGpu).at("choice").at("kernel"));
        return names;
    }

    Tool tool;
};

bool has_compiler(const Tool& tool) {
    return tool.run("dump f32 tt 8 8 8 --arch sm_80 --emit cubin", kNoGpu).exit_code != 1;
}

int entries_in(const std::string& cache) {
    std::error_code ignored;  // there is no cache yet
    int count = 0;
    for (const auto& entry : fs::directory_iterator(cache, ignored))
        count += fs::exists(entry.path() / "meta.json") ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("warm: the cache holds the kernels that later requests ask for, each compiled once") {
    const WarmTool warm({"f32 tt 33 65 17", "f32 nn m=1:20 n=64 k=64", "f32 tt 33 65 17"});
    if (!has_compiler(warm.tool)) SKIP_TEST("no NVRTC here");
    static_cast<void>(warm.tool.run("cache clear"));
    std::set<std::string> chosen = warm.chosen({"f32 tt 33 65 17"});
    const Json set = warm.tool.json("kernels f32 nn m=1:20 n=64 k=64 --gpu a100", 0, kNoGpu);
    for (const Json& kernel : set.at("kernels")) chosen.insert(kernel.at("name"));

    const Json first = warm.json();
    CHECK(first.at("problems") == 22);
    CHECK(first.at("kernels") == chosen.size());
    CHECK(first.at("compiled") == chosen.size());
    CHECK(first.at("gpu") == "a100");
    CHECK(warm.kernels() == chosen);
    const Json second = warm.json();
    CHECK(second.at("compiled") == 0);
    CHECK(second.at("from_cache") == chosen.size());
    SECTION("a cache that is only read serves as well") {
        const std::string elsewhere = warm.tool.folder() / "other";
        const Json third = warm.json(
            0, fmt::format("JITGEMM_CACHE_DIR='{}' JITGEMM_CACHE_READONLY='{}'", elsewhere, warm.tool.cache()));
        CHECK(third.at("from_cache") == chosen.size());
    }
    SECTION("no compiler is needed for what is there") {
        CHECK(warm.json(0, "JITGEMM_NVRTC=/none").at("compiled") == 0);
    }
}

TEST_CASE("warm: what was killed goes on where it was") {
    const WarmTool warm;
    if (!has_compiler(warm.tool)) SKIP_TEST("no NVRTC here");
    static_cast<void>(warm.tool.run("cache clear"));
    const std::string script = fmt::format(
        "export {} JITGEMM_CACHE_DIR='{}' TMPDIR='{}'; '{}' {} >/dev/null 2>&1 & "
        "while kill -0 $! 2>/dev/null && [ $(ls '{}' 2>/dev/null | grep -c -- '-[0-9a-f]\\{{32\\}}$') -lt 2 ]; "
        "do sleep 0.005; done; kill -9 $!; wait $! 2>/dev/null; true",
        kNoGpu, warm.tool.cache(), warm.tool.folder().path(), JITGEMM_TOOL, warm.words(), warm.tool.cache());
    REQUIRE(std::system(("exec 2>/dev/null; " + script).c_str()) == 0);
    const int kept = entries_in(warm.tool.cache());
    REQUIRE(kept >= 2);
    const Json rest = warm.json();
    CHECK(rest.at("from_cache") >= kept);
    CHECK(rest.at("from_cache").get<int>() + rest.at("compiled").get<int>() == rest.at("kernels"));
    CHECK(warm.kernels() == warm.chosen(kProblems));
    CHECK(fs::is_empty(warm.tool.cache() + "/tmp"));
}

TEST_CASE("warm: two at once compile each kernel once", "[heavy]") {
    const WarmTool warm;
    if (!has_compiler(warm.tool)) SKIP_TEST("no NVRTC here");
    static_cast<void>(warm.tool.run("cache clear"));
    const std::string script = fmt::format(
        "export {} JITGEMM_CACHE_DIR='{}'; cd '{}'; '{}' {} --json >one 2>/dev/null & '{}' {} --json >two 2>/dev/null; "
        "other=$?; wait $! && exit $other",
        kNoGpu, warm.tool.cache(), warm.tool.folder().path(), JITGEMM_TOOL, warm.words(), JITGEMM_TOOL, warm.words());
    REQUIRE(std::system(script.c_str()) == 0);
    int compiled = 0;
    for (const char* name : {"one", "two"}) {
        const Json result = Json::parse(text_in(warm.tool.folder() / name));
        CHECK(result.at("from_cache").get<int>() + result.at("compiled").get<int>() == result.at("kernels"));
        compiled += result.at("compiled").get<int>();
    }
    CHECK(compiled == static_cast<int>(warm.chosen(kProblems).size()));
}

TEST_CASE("warm: another NVRTC compiles anew, beside what the first one has made") {
    const char* const other = std::getenv("JITGEMM_TEST_NVRTC_12");
    if (other == nullptr || !fs::exists(other))
        SKIP_TEST("JITGEMM_TEST_NVRTC_12 names no libnvrtc.so.12 (wheel nvidia-cuda-nvrtc-cu12==12.4.127)");
    const WarmTool warm({"f32 tt 33 65 17", "f16 tt 33 65 17"});
    if (!has_compiler(warm.tool)) SKIP_TEST("no NVRTC here");
    static_cast<void>(warm.tool.run("cache clear"));
    const std::string by_other = fmt::format("JITGEMM_NVRTC='{}'", other);
    CHECK(warm.json(0, by_other).at("compiled") == 2);
    CHECK(warm.json().at("compiled") == 2);
    CHECK(entries_in(warm.tool.cache()) == 4);
    for (const std::string& settings : {by_other, std::string()}) {
        const Json again = warm.json(0, settings);
        CHECK(again.at("compiled") == 0);
        CHECK(again.at("from_cache") == 2);
    }
    std::set<int> versions;
    const Json listed = warm.tool.json("cache ls", 0);
    for (const Json& entry : listed.at("entries")) versions.insert(entry.at("nvrtc_version").get<int>() / 10);
    CHECK(versions.size() == 2);
    CHECK(versions.contains(12));
}

TEST_CASE("warm: problems that nothing serves are told, and the others compiled") {
    const WarmTool warm({"tf32 tn m=1:300 n=8 k=8", "f32 tt 33 65 17"});
    if (!has_compiler(warm.tool)) SKIP_TEST("no NVRTC here");
    const Json result = warm.json(1);
    CHECK(result.at("problems") == 301);
    REQUIRE(result.at("unserved").size() == 1);
    const Json& unserved = result.at("unserved").at(0);
    CHECK_THAT(unserved.at("spec").get<std::string>(), ContainsSubstring("m=1 "));
    CHECK(unserved.at("last_m") == 300);
    CHECK_THAT(unserved.at("reason").get<std::string>(), ContainsSubstring("tf32"));
    CHECK(result.at("kernels") == 1);
    CHECK(warm.kernels().contains(*warm.chosen({"f32 tt 33 65 17"}).begin()));
}

TEST_CASE("warm: a cache that can't be written is an error with the reason, and holds no half entry") {
    const WarmTool warm;
    if (!has_compiler(warm.tool)) SKIP_TEST("no NVRTC here");
    static_cast<void>(warm.tool.run("cache clear"));
    SECTION("a file stands where the cache makes a folder, which stops root, too") {
        fs::remove_all(warm.tool.cache() + "/tmp");
        put_text(warm.tool.cache() + "/tmp", "x");
        const Json error = warm.json(1).at("error");
        CHECK_THAT(error.at("message").get<std::string>(), ContainsSubstring(warm.tool.cache() + "/tmp"));
        CHECK(entries_in(warm.tool.cache()) == 0);
    }
    SECTION("a full disk") {
        const std::string full = warm.tool.folder() / "full";
        fs::create_directory(full);
        const std::string mounted = fmt::format(
            "unshare -m sh -c 'mount -t tmpfs -o size=64k,mode=0700 tmpfs \"{}\" || exit 77; "
            "JITGEMM_CACHE_DIR=\"{}\" \"$@\"; code=$?; find \"{}/tmp\" -mindepth 1 >\"{}/half\"; exit $code' sh",
            full, full, full, warm.tool.folder().path());
        const ToolResult result = warm.tool.run(warm.words("--family mma_multistage"), mounted);
        if (result.exit_code == 77 || result.err.find("unshare") != std::string::npos)
            SKIP_TEST("no file system can be mounted here");
        INFO(result.err);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.err, ContainsSubstring(full) && ContainsSubstring("No space left"));
        CHECK(text_in(warm.tool.folder() / "half").empty());
    }
}

TEST_CASE("warm: without NVRTC it says what was looked for") {
    const WarmTool warm;
    const Json error = warm.json(1, "JITGEMM_NVRTC=/none").at("error");
    CHECK_THAT(error.at("message").get<std::string>(), ContainsSubstring("NVRTC") && ContainsSubstring("/none"));
    CHECK(entries_in(warm.tool.cache()) == 0);
}

TEST_CASE("warm: wrong usage is refused before anything is compiled") {
    const WarmTool warm;
    const auto refused = [&](const std::string& words, const char* why) {
        const ToolResult result = warm.tool.run(words, kNoGpu);
        INFO(words << "\n" << result.err);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err, ContainsSubstring(why));
    };
    const std::string shapes = fmt::format("warm --shapes '{}' ", warm.shapes());
    refused(shapes + "--gpu a100 --jobs 0", "--jobs is 0");
    refused(shapes + "--gpu a1", "a1");
    refused("warm --shapes /none --gpu a100", "/none");
    std::string ignored;
    if (gpu_count(ignored) == 0) refused(shapes, "--gpu");
    CHECK(entries_in(warm.tool.cache()) == 0);
}

#endif
