#include "runtime/bench/cublaslt_library.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace jitgemm;
using jitgemm::testing::put_text;
using jitgemm::testing::TemporaryFolder;

TEST_CASE("cuBLASLt's handle is made and destroyed with its context current") {
    if (std::system("command -v cc >/dev/null 2>&1") != 0) SKIP_TEST("no C compiler 'cc'");
    const TemporaryFolder folder;
    std::string text =
        "int current, made_in = -1, destroyed_in = -1;\n"
        "int cublasLtCreate(void **handle) { made_in = current; *handle = &current; return 0; }\n"
        "int cublasLtDestroy(void *handle) { (void)handle; destroyed_in = current; return 0; }\n";
    for (const char* other :
         {"GetVersion", "MatmulDescCreate", "MatmulDescDestroy", "MatmulDescSetAttribute", "MatrixLayoutCreate",
          "MatrixLayoutDestroy", "MatrixLayoutSetAttribute", "MatmulPreferenceCreate", "MatmulPreferenceDestroy",
          "MatmulPreferenceSetAttribute", "MatmulAlgoGetHeuristic", "Matmul"})
        text += fmt::format("void cublasLt{}(void) {{}}\n", other);
    put_text(folder / "fake.c", text);
    const std::string path = folder / "libfake.so";
    REQUIRE(std::system(fmt::format("cc -shared -fPIC {} -o {}", folder / "fake.c", path).c_str()) == 0);
    std::vector<std::string> tried;
    const DynamicLibrary library = DynamicLibrary::open_first({path}, tried);
    REQUIRE(library);
    const auto value = [&](const char* name) -> int& { return *static_cast<int*>(library.symbol(name)); };
    const auto in_context = [&](const std::function<void()>& step) {
        value("current") = 7;
        step();
        value("current") = 0;
    };
    CublasLt::open({path}, in_context).reset();
    CHECK(value("made_in") == 7);
    CHECK(value("destroyed_in") == 7);
    bool gone = false;
    auto opened = CublasLt::open({path}, [&](const std::function<void()>& step) {
        if (gone) throw Error("the context is gone");
        step();
    });
    value("destroyed_in") = -1;
    gone = true;
    opened.reset();  // and the handle with it
    CHECK(value("destroyed_in") == -1);
}
