/// The programs of bench/ that stand beside the tool: nvcc builds them without a warning.

#include "runtime/cli/subprocess.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/ranges.h>

#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

std::string path_of(const std::string& program) {
    return std::string(JITGEMM_SOURCE_DIR) + "/bench/" + program + ".cu";
}

void require_built(const std::string& program, const std::string& output) {
    const auto built = cli::run_program({"nvcc", "-O3", "-std=c++17", "-arch=sm_90a", "-Xcompiler", "-Wall,-Wextra",
                                         "-Werror", "all-warnings", path_of(program), "-o", output});
    REQUIRE(built);
    REQUIRE(built->exit_code == 0);
}

void check_refused(const std::vector<std::string>& command) {
    INFO(fmt::format("{}", fmt::join(command, " ")));
    const auto refused = cli::run_program(command);
    REQUIRE(refused);
    CHECK(refused->exit_code == 2);
}

}  // namespace

TEST_CASE("bench/read_floor.cu is built by nvcc without a warning and refuses a size that is none") {
    if (!cli::run_program({"nvcc", "--version"})) SKIP_TEST("no nvcc: bench/read_floor.cu is not compiled");
    TemporaryFolder folder;
    const std::string program = folder / "read_floor";
    require_built("read_floor", program);
    for (const char* size : {"0", "12x", "nan", "1e9"}) check_refused({program, size});
}

TEST_CASE("bench/write_floor.cu is built by nvcc without a warning and refuses a matrix that is none") {
    if (!cli::run_program({"nvcc", "--version"})) SKIP_TEST("no nvcc: bench/write_floor.cu is not compiled");
    TemporaryFolder folder;
    const std::string program = folder / "write_floor";
    require_built("write_floor", program);
    check_refused({program, "16384"});
    for (const char* rows : {"0", "-256", "12x", "16385", "256", "16777216"}) check_refused({program, rows, "16384"});
}
