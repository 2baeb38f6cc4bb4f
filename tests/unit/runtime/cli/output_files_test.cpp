#ifdef JITGEMM_TOOL

#include "runtime/tuning/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/support/tool.hpp"
#include "tests/support/tuning_records.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

/// \file Files that users name: whatever the verb, a link, a mode, a device stays what it is, and a full disk is told.

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// Each verb up to the name of the file it writes.
const std::vector<std::string> kWriters{
    "dump bf16 tn 512 512 512 --gpu a100 -o ",
    "layout eval '(4,2):(2,1)' -o ",
    "layout eval '(4,2):(2,1)' --format json -o ",
    "wisdom export ",
};

void fill_store(const Tool& tool) {
    tuning::TuningStore store(tool.cache() + "/tuning");
    REQUIRE(store.add_winners({winner_for(kTunedSpec)}) == 1);
}

std::string quoted(const std::string& path) { return "'" + path + "'"; }

}  // namespace

TEST_CASE("the tool: a named file keeps its mode, a link leads where it led") {
    const Tool tool;
    fill_store(tool);
    const std::string file = tool.folder() / "file";
    const std::string link = tool.folder() / "link";
    fs::create_symlink("file", link);
    for (const std::string& writer : kWriters) {
        INFO(writer);
        put_text(file, "old");
        ::chmod(file.c_str(), 0604);
        CHECK(tool.run(writer + quoted(link)).exit_code == 0);
        CHECK(fs::is_symlink(link));
        CHECK(text_in(file) != "old");
        CHECK(fs::status(file).permissions() == static_cast<fs::perms>(0604));
    }
}

TEST_CASE("the tool: a pipe is written, not replaced") {
    const Tool tool;
    fill_store(tool);
    const std::string pipe = tool.folder() / "pipe";
    ::mkfifo(pipe.c_str(), 0600);
    for (const std::string& writer : kWriters) {
        INFO(writer);
        const std::string got = tool.folder() / "got";
        // A verb that never opens the pipe is no reason to read for ever.
        static_cast<void>(
            tool.run(writer + quoted(pipe) + " & timeout 60 cat " + quoted(pipe) + " >" + quoted(got) + "; wait"));
        CHECK(text_in(got).size() > 20);
        CHECK(fs::is_fifo(pipe));
    }
}

TEST_CASE("the tool: a dash names neither a folder nor a file of that name") {
    const Tool tool;
    fill_store(tool);
    for (const char* const writer : {"export bf16 tn 512 512 512 --gpu a100 -o -", "wisdom export -"}) {
        const ToolResult result = tool.run(writer);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err, ContainsSubstring("is '-'"));
        CHECK_FALSE(fs::exists("-"));
    }
}

TEST_CASE("the tool: a full device is a failure") {
    if (!fs::exists("/dev/full")) SKIP_TEST("no /dev/full");
    const Tool tool;
    fill_store(tool);
    for (const std::string& writer : kWriters) {
        const ToolResult result = tool.run(writer + "/dev/full");
        INFO(writer << "\n" << result.err);
        CHECK(result.exit_code == 1);
        CHECK_THAT(result.err, ContainsSubstring("cannot write /dev/full: No space left"));
        CHECK(fs::is_character_file("/dev/full"));
    }
}

TEST_CASE("the tool: /dev/stdout is what the shell made of it") {
    const Tool tool;
    const std::string dump = "dump bf16 tn 512 512 512 --gpu a100";
    const std::string file = tool.folder() / "file";
    CHECK(tool.run(dump + " -o /dev/stdout").out == tool.run(dump).out);
    put_text(file, "before\n");
    CHECK(tool.run(dump + " -o /dev/stdout >>" + quoted(file) + " 2>&1; echo after >>" + quoted(file) + "; true")
              .exit_code == 0);
    CHECK(text_in(file) == "before\n" + tool.run(dump).out + "after\n");
}

TEST_CASE("the tool: a file that cannot be written is told before the work, by its own name") {
    const Tool tool;
    // Compiling, tuning and timing would fail here for want of NVRTC or a GPU: the file comes first.
    const std::string dump = "dump bf16 tn 512 512 512 --gpu a100 --emit ptx -o /proc/x";
    const std::string tune = "tune bf16 tn 512 512 512 --devices cuda:99 ";
    const std::string bench = "bench bf16 tn 512 512 512 --csv /proc/x";
    for (const std::string& command : {dump, tune + "--report /proc/x", tune + "--csv /proc/x",
                                       tune + "--measurements /proc/x", std::string("ladder --html /proc/x"), bench}) {
        const ToolResult result = tool.run(command, "JITGEMM_NVRTC=/none");
        INFO(command << "\n" << result.err);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err, ContainsSubstring("cannot write /proc/x: "));
        CHECK(result.err.find(".tmp-") == std::string::npos);
    }
    const ToolResult exported = tool.run("export bf16 tn 512 512 512 --gpu a100 -o /proc/x", "JITGEMM_NVRTC=/none");
    CHECK(exported.exit_code == 1);
    CHECK_THAT(exported.err, ContainsSubstring("cannot write /proc/x: "));
}

#endif
