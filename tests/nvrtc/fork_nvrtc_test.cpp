/// Processes that fork while their threads compile.

#include "jitgemm/jitgemm.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "tests/catch.hpp"
#include "tests/support/child.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

using namespace jitgemm;
using namespace std::chrono_literals;

namespace {

constexpr unsigned kMostSecondsOfAChild = 120;
constexpr int kMade = 10, kRefused = 11;

std::string new_kernel(int number) {
    std::string text = "extern \"C\" __global__ void f(int *p) { *p = " + std::to_string(number) + "; }\n";
    for (int i = 0; i < 500; ++i) text += "constexpr int kUnused" + std::to_string(i) + " = 1;\n";
    return text;
}

int make_a_kernel() {
    ::alarm(kMostSecondsOfAChild);
    Options options = Options::from_environment();
    options.device = "emulator:sm_80";
    options.cache_directory.clear();
    options.readonly_cache_directory.clear();
    options.family = "simt_naive";
    try {
        Context context(options);
        return context.kernel(parse_shape_line("f32 tt 8 8 8")).info().cache == CacheSource::compiled ? kMade : 1;
    } catch (const CompileError& error) {
        return std::string(error.what()).find("fork") != std::string::npos ? kRefused : 2;
    }
}

}  // namespace

TEST_CASE("a fork beside threads that compile has a child that makes kernels or is told that it can't") {
    const std::shared_ptr<Nvrtc> nvrtc = Nvrtc::load(Options::from_environment());
    std::atomic<bool> stop = false;
    std::atomic<int> compiled = 0, failed = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread)
        threads.emplace_back([&, thread] {
            for (int i = 0; !stop; ++i) {
                const std::string text = new_kernel(1000 * thread + i);
                const bool ok = nvrtc->compile(text, "kernel.cu", {"--gpu-architecture=sm_80"}).ok;
                ++(ok ? compiled : failed);
            }
        });
    while (compiled == 0 && failed == 0) std::this_thread::sleep_for(1ms);
    std::vector<int> outcomes;
    for (int fork = 0; fork < 5; ++fork) {
        std::this_thread::sleep_for(37ms);
        outcomes.push_back(testing::in_child(make_a_kernel));
    }
    const int before = compiled;
    while (compiled == before && failed == 0) std::this_thread::sleep_for(1ms);  // the parent goes on
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(failed == 0);
    for (const int outcome : outcomes) CHECK((outcome == kMade || outcome == kRefused));
}
