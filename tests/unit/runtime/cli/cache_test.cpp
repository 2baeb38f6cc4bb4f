#ifdef JITGEMM_TOOL

#include "runtime/cache/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/tool.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// Stores a kernel as if it had been compiled that many days ago; its folder.
std::string put_kernel(const Tool& tool, const std::string& name, int days = 0, const std::string& arch = "sm_90a") {
    CountingCompiler compiler;
    CompileRequest request = request_of(name, name);
    request.arch = arch;
    const std::string entry = KernelCache(tool.cache(), {}).get_or_compile(request, compiler, name).directory;
    fs::last_write_time(entry + "/meta.json", fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
    return entry;
}

}  // namespace

TEST_CASE("the tool: the cache is pruned by age and size") {
    const Tool tool;
    const std::string old = put_kernel(tool, "kernel_a", 40);
    const std::string recent = put_kernel(tool, "kernel_b");
    CHECK(tool.json("cache prune --older-than 30d --dry-run", 0).at("removed") == 1);
    CHECK(fs::exists(old));
    const auto pruned = tool.json("cache prune --older-than 30d --max-size 500M", 0);
    CHECK(pruned.at("removed") == 1);
    CHECK(pruned.at("total_bytes") == tool.json("cache info", 0).at("total_bytes"));
    CHECK_FALSE(fs::exists(old));
    CHECK_THAT(tool.run("cache prune --max-size 0").out, ContainsSubstring("1 kernel of"));
    CHECK_FALSE(fs::exists(recent));
}

TEST_CASE("the tool: what prune cannot make sense of removes nothing") {
    const Tool tool;
    const std::string entry = put_kernel(tool, "kernel_a", 1000);
    for (const char* options :
         {"", "--max-size lots", "--max-size -1", "--max-size M", "--max-size 1X", "--max-size ''",
          "--older-than 3 days", "--older-than -1d", "--older-than 0d", "--older-than 30"}) {
        INFO(options);
        CHECK(tool.run(std::string("cache prune ") + options).exit_code == 2);
        CHECK(fs::exists(entry));
    }
}

TEST_CASE("the tool: what could not be removed is told, and a failure") {
    const Tool tool;
    const std::string entry = put_kernel(tool, "kernel_a");
    put_text(entry + "/notes.txt", "mine");
    const ToolResult cleared = tool.run("cache clear");
    CHECK(cleared.exit_code == 1);
    CHECK_THAT(cleared.err, ContainsSubstring("notes.txt"));
    CHECK(tool.json("cache clear", 1).at("kept").size() == 1);
    put_text(entry + "/kernel.cubin", "x");
    CHECK(tool.run("cache verify --drop").exit_code == 1);
    CHECK(text_in(entry + "/notes.txt") == "mine");
}

TEST_CASE("the tool: another user's cache folder is an error, not an empty cache") {
    if (::geteuid() != 0) SKIP_TEST("only root can give a folder away");
    const Tool tool;
    static_cast<void>(put_kernel(tool, "kernel_a"));
    if (::chown(tool.cache().c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a folder away");
    for (const char* verb : {"ls", "info", "verify", "clear", "prune --max-size 0"}) {
        const ToolResult result = tool.run(std::string("cache ") + verb);
        INFO(verb);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.err, ContainsSubstring("belongs to user 65534"));
    }
}

TEST_CASE("the tool: PTX has no registers to list, a cubin has") {
    const Tool tool;
    static_cast<void>(put_kernel(tool, "kernel_a", 0, "compute_80"));
    CHECK(tool.run("cache ls").out.find(" regs") == std::string::npos);
    CHECK_THAT(tool.run("cache ls").out, ContainsSubstring(" PTX  compute_80"));
    CHECK(tool.json("cache ls", 0).at("entries").at(0).at("registers").is_null());
    static_cast<void>(put_kernel(tool, "kernel_b"));
    CHECK_THAT(tool.run("cache ls").out, ContainsSubstring("40 regs"));
}

#endif
