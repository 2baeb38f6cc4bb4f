#ifdef JITGEMM_TOOL

#include "tests/catch.hpp"
#include "tests/support/slow_source.hpp"
#include "tests/support/terminal.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string command(const std::string& arguments) {
    return "JITGEMM_CACHE_DIR= CUDA_VISIBLE_DEVICES=-1 '" JITGEMM_TOOL "' " + arguments + " >/dev/null";
}

}  // namespace

TEST_CASE("the tool: a terminal shows what a run waits for and for how many seconds, and then nothing of it") {
    const Tool tool;
    constexpr unsigned short kColumns = 60;
    const TerminalRun run =
        run_on_terminal(command("run --source '" + slow_dump(tool, 40000) + "' --device emulator"), kColumns);
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.err, ContainsSubstring("compiling with NVRTC: mma_multistage_bf16_tn_"));
    CHECK_THAT(run.err, ContainsSubstring(" ... 1 s"));
    CHECK_THAT(run.err, ContainsSubstring("verifying on the emulator (sm_80)"));
    const std::vector<std::string> lines = shown_lines(run.err);
    for (const std::string& line : lines) CHECK(line.size() < kColumns);
    CHECK(run.err.ends_with("\r\x1b[K"));  // the last thing done is to take it back
}

TEST_CASE("the tool: where stderr is no terminal there is no progress in it, but for steps that take seconds") {
    const Tool tool;
    const ToolResult run = tool.run("run bf16 tn 64 64 64 --device emulator", "CUDA_VISIBLE_DEVICES=-1");
    CHECK(run.exit_code == 0);
    CHECK(run.err.find('\r') == std::string::npos);
    std::istringstream lines(run.err);
    for (std::string line; std::getline(lines, line);) CHECK_THAT(line, ContainsSubstring(" ... "));
}

#endif
