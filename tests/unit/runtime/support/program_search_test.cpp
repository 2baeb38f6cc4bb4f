#include "runtime/support/program_search.hpp"

#include "jitgemm/error.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "tests/catch.hpp"
#include "tests/support/search_path.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a program is looked up in PATH's folders in their order, and nowhere else") {
    const TemporaryFolder first, second, here;
    put_program(second / "tool", "");
    put_program(here / "tool", "");
    put_text(first / "tool", "not executable");
    const InFolder inside(here.path());
    const SearchPath path(":.:" + first.path() + "::relative:" + second.path() + ":" + here.path() + ":");
    CHECK(program_folders_from_environment() == std::vector{first.path(), second.path(), here.path()});
    CHECK(find_program("tool", program_folders_from_environment()) == second / "tool");
    CHECK_FALSE(find_program("other", program_folders_from_environment()));
    CHECK_FALSE(find_program(first / "tool", {}));  // a path stands for itself
    CHECK(find_program(second / "tool", {}) == second / "tool");
    CHECK_FALSE(find_program("tool", {}));  // although ./tool is there
    std::filesystem::create_directory(first / "folder");
    CHECK_FALSE(find_program("folder", {first.path()}));
}

TEST_CASE("the tool that tunes is found in PATH unless it is named, and an error says where it was looked for") {
    const TemporaryFolder folder, here;
    put_program(folder / "jitgemm", "");
    put_program(folder / "my-tool", "");
    put_program(here / "jitgemm", "");
    const InFolder inside(here.path());
    Options options;
    {
        const SearchPath path("::" + folder.path());
        CHECK(tuning::tool_program(options) == folder / "jitgemm");
        options.tool = "my-tool";
        CHECK(tuning::tool_program(options) == folder / "my-tool");
    }
    const SearchPath path(":.:/nonexistent:" + (here / "empty"));
    options.tool.clear();
    CHECK_THROWS_WITH(tuning::tool_program(options), ContainsSubstring("JITGEMM_TOOL") &&
                                                         ContainsSubstring("option tool") &&
                                                         ContainsSubstring("/nonexistent, " + (here / "empty")));
    options.tool = folder / "gone";
    CHECK_THROWS_WITH(tuning::tool_program(options),
                      ContainsSubstring("JITGEMM_TOOL") && ContainsSubstring(folder / "gone"));
}
