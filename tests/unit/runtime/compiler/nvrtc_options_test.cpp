#include "runtime/compiler/nvrtc_options.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"

using namespace jitgemm;

TEST_CASE("options carry their first NVRTC version") {
    CompileRequest request{.name = "k", .body = {}, .arch = "sm_90a", .options = {"--std=c++17"}};
    CHECK(nvrtc_options(request, 130) ==
          std::vector<std::string>{"--gpu-architecture=sm_90a", "--std=c++17", "--no-cache"});
    CHECK(nvrtc_options(request, 128) == std::vector<std::string>{"--gpu-architecture=sm_90a", "--std=c++17"});
    request.options = {"--pch"};
    CHECK_THROWS_WITH(nvrtc_options(request, 124), testing::Says("--pch", "needs", "12.8", "12.4"));
}
