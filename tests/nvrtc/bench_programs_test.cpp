/// The programs of bench/ that stand beside the tool: nvcc builds them without a warning.

#include "runtime/cli/subprocess.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;

TEST_CASE("bench/read_floor.cu is built by nvcc without a warning and refuses a size that is none") {
    if (!cli::run_program({"nvcc", "--version"})) SKIP_TEST("no nvcc: bench/read_floor.cu is not compiled");
    TemporaryFolder folder;
    const std::string source = std::string(JITGEMM_SOURCE_DIR) + "/bench/read_floor.cu";
    const std::string program = folder / "read_floor";
    const auto built = cli::run_program({"nvcc", "-O3", "-std=c++17", "-arch=sm_90a", "-Xcompiler", "-Wall,-Wextra",
                                         "-Werror", "all-warnings", source, "-o", program});
    REQUIRE(built);
    REQUIRE(built->exit_code == 0);
    for (const char* size : {"0", "12x", "nan", "1e9"}) {
        INFO(size);
        const auto refused = cli::run_program({program, size});
        REQUIRE(refused);
        CHECK(refused->exit_code == 2);
    }
}
