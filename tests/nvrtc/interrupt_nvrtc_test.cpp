#ifdef JITGEMM_TOOL

#include "tests/catch.hpp"
#include "tests/support/slow_source.hpp"
#include "tests/support/tool.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// So many that the compile takes longer than the two seconds of grace.
constexpr int kConstants = 40000;

/// Ends when the process `pid` has its handlers, SIGALRM's the last of them, or is no more.
constexpr const char* kUntilHandled =
    "while kill -0 $pid 2>/dev/null && ! grep -q '^SigCgt:.*[2367abef]...$' /proc/$pid/status 2>/dev/null; do "
    "sleep 0.01; done; ";

/// The tool's process while it compiles, sent a signal; `script` says when, from the time on that it handles signals.
ToolResult interrupted_tool(const Tool& tool, const std::string& arguments, const std::string& script) {
    const std::string out = tool.folder() / "out";
    const std::string err = tool.folder() / "err";
    const std::string command =
        "env --default-signal=INT JITGEMM_CACHE_DIR= CUDA_VISIBLE_DEVICES=-1 '" JITGEMM_TOOL "' " + arguments + " >'" +
        out + "' 2>'" + err + "' & pid=$!; " + kUntilHandled + script + "; wait $pid; exit $?";
    const int status = std::system(command.c_str());  // NOLINT(bugprone-command-processor): a shell can send signals
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_in(out), text_in(err)};
}

void check_interrupted(const ToolResult& result) {
    INFO(result.out << "\n" << result.err);
    CHECK(result.exit_code == 130);
    CHECK_THAT(result.err, ContainsSubstring("jitgemm: interrupted"));
    REQUIRE(nlohmann::json::accept(result.out));
    const nlohmann::json document = nlohmann::json::parse(result.out);
    CHECK(document.at("exit_code") == 130);
    CHECK(document.at("error").at("kind") == "interrupted");
}

}  // namespace

TEST_CASE("the tool: Ctrl-C in the midst of a compile exits with 130, a message and one document") {
    const Tool tool;
    const std::string run = "run --source '" + slow_dump(tool, kConstants) + "' --device emulator --json";
    // The first may come while the front end runs.
    check_interrupted(interrupted_tool(tool, run, "sleep 0.7; kill -INT $pid"));
    check_interrupted(interrupted_tool(tool, run, "sleep 0.7; kill -INT $pid; sleep 0.3; kill -INT $pid"));
}

TEST_CASE("the tool: SIGTERM and SIGHUP end every verb as Ctrl-C does") {
    const Tool tool;
    const std::string run = "run --device emulator --json --source '" + slow_dump(tool, kConstants) + "'";
    const std::string dump = "dump bf16 tn 64 64 64 --arch sm_80 --family mma_multistage --emit cubin -o /dev/null " +
                             std::string("--json --templates '") + slow_templates(tool, kConstants) + "'";
    const std::string asked = GENERATE_COPY(run, dump);
    const std::string signal = GENERATE("TERM", "HUP");
    INFO(asked << " " << signal);
    check_interrupted(interrupted_tool(tool, asked, "sleep 0.3; kill -" + signal + " $pid"));
}

#endif
