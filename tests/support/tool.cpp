#ifdef JITGEMM_TOOL

#include "tests/support/tool.hpp"

#include "tests/catch.hpp"

#include <cstdlib>

#include <sys/wait.h>

namespace jitgemm::testing {
namespace {

constexpr const char* kOutsideSettings =
    "env -u JITGEMM_CACHE_READONLY -u JITGEMM_NVRTC -u JITGEMM_TEMPLATES -u JITGEMM_LOG -u JITGEMM_TUNING_DIR "
    "-u JITGEMM_WISDOM -u JITGEMM_DEVICE";

}  // namespace

ToolResult Tool::run(const std::string& arguments, const std::string& settings) const {
    const std::string out = folder_ / "stdout";
    const std::string err = folder_ / "stderr";
    const std::string command = std::string(kOutsideSettings) + " JITGEMM_CACHE_DIR='" + cache() + "' " + settings +
                                " '" JITGEMM_TOOL "' </dev/null " + arguments + " >'" + out + "' 2>'" + err + "'";
    const int status =
        std::system(command.c_str());  // NOLINT(bugprone-command-processor): a shell is what users type into
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_in(out), text_in(err)};
}

nlohmann::json Tool::json(const std::string& arguments, int expected_exit_code, const std::string& settings) const {
    const ToolResult result = run(arguments + " --json", settings);
    INFO(arguments << "\n" << result.out << "\n" << result.err);
    CHECK(result.exit_code == expected_exit_code);
    REQUIRE(nlohmann::json::accept(result.out));
    return nlohmann::json::parse(result.out);
}

}  // namespace jitgemm::testing

#endif
