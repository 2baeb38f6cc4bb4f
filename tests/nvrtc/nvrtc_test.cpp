#include "runtime/compiler/nvrtc.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kKernel = R"(extern "C" __global__ void fill(float* x, float value) { x[threadIdx.x] = value; })";

std::shared_ptr<Nvrtc> nvrtc() {
    static const std::shared_ptr<Nvrtc> loaded = Nvrtc::load(Options::from_environment());
    return loaded;
}

/// Only the library the other tests use.
Options only_this_library() {
    Options options;
    options.nvrtc_library = nvrtc()->path();
    return options;
}

}  // namespace

TEST_CASE("the library that was found: version, path, architectures") {
    CHECK(nvrtc()->version() >= kOldestNvrtc);
    CHECK(nvrtc()->path().starts_with('/'));
    const std::vector<int> archs = nvrtc()->supported_archs();
    CHECK(std::find(archs.begin(), archs.end(), 80) != archs.end());
    CHECK(std::find(archs.begin(), archs.end(), 90) != archs.end());
    CHECK(Nvrtc::load(only_this_library())->version() == nvrtc()->version());
}

TEST_CASE("a library too new for the driver is named, with the wheel that would do") {
    const int newest = nvrtc()->version() / 10 - 1;
    try {
        static_cast<void>(Nvrtc::load(only_this_library(), newest));
        FAIL("loaded");
    } catch (const CompileError& error) {
        CHECK_THAT(
            error.what(),
            ContainsSubstring(nvrtc()->path() + ": is NVRTC " + nvrtc_version_text(nvrtc()->version()) +
                              ", too new: the driver loads binaries of CUDA " + std::to_string(newest) + " at most"));
        CHECK_THAT(error.what(), ContainsSubstring(nvrtc_wheel(newest)));
    }
}

TEST_CASE("sm_* gives a cubin, compute_* PTX, and the log tells what ptxas did") {
    const NvrtcOutput cubin =
        nvrtc()->compile(kKernel, "kernel.cu", {"--gpu-architecture=sm_90a", "--ptxas-options=-v"});
    REQUIRE(cubin.ok);
    CHECK(
        cubin.code.starts_with("\x7f"
                               "ELF"));
    CHECK_THAT(cubin.log, ContainsSubstring("registers"));
    CHECK(cubin.milliseconds > 0);
    const NvrtcOutput ptx = nvrtc()->compile(kKernel, "kernel.cu", {"--gpu-architecture=compute_80"});
    REQUIRE(ptx.ok);
    CHECK_THAT(ptx.code, ContainsSubstring(".visible .entry fill"));
    CHECK(ptx.code.back() != '\0');
}

TEST_CASE("a refused source and a refused option come back with their log") {
    const NvrtcOutput bad_source = nvrtc()->compile("int x = y;", "kernel.cu", {"--gpu-architecture=sm_80"});
    CHECK_FALSE(bad_source.ok);
    CHECK_THAT(bad_source.log, ContainsSubstring("kernel.cu(1): error"));
    const NvrtcOutput bad_option = nvrtc()->compile(kKernel, "kernel.cu", {"--no-such-option"});
    CHECK_FALSE(bad_option.ok);
    CHECK_THAT(bad_option.log, ContainsSubstring("--no-such-option"));
}

TEST_CASE("several threads compile at once") {
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            const std::string source = std::string(kKernel) + "\n__device__ int other_" + std::to_string(i) + ";";
            right += nvrtc()->compile(source, "kernel.cu", {"--gpu-architecture=sm_80"}).ok ? 1 : 0;
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 4);
}
