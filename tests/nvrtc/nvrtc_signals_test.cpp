#include "runtime/compiler/nvrtc.hpp"

#include "tests/catch.hpp"

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

using namespace jitgemm;

namespace {

/// Constants keep NVRTC's front end busy, which is where it would take the signals.
std::string kernel_with_constants(int count) {
    std::string text = "extern \"C\" __global__ void f() {}\n";
    for (int i = 0; i < count; ++i)
        text += "constexpr int kUnused" + std::to_string(i) + " = " + std::to_string(i) + ";\n";
    return text;
}

void handler_of_the_application(int) {}

/// Looks, from another thread and over and over, at who would take these signals.
class HandlerWatch {
public:
    explicit HandlerWatch(void (*expected)(int)) : expected_(expected), thread_([this] { watch(); }) {}
    ~HandlerWatch() { stop(); }
    HandlerWatch(const HandlerWatch&) = delete;
    HandlerWatch& operator=(const HandlerWatch&) = delete;

    void stop() {
        stopped_ = true;
        if (thread_.joinable()) thread_.join();
    }
    [[nodiscard]] int looks() const { return looks_; }
    [[nodiscard]] int strangers() const { return strangers_; }

private:
    void watch() {
        while (!stopped_) {
            for (const int number : {SIGINT, SIGTERM}) {
                struct sigaction present {};
                sigaction(number, nullptr, &present);
                strangers_ += present.sa_handler == expected_ ? 0 : 1;
            }
            ++looks_;
            std::this_thread::yield();
        }
    }

    void (*expected_)(int);
    std::atomic<bool> stopped_ = false;
    std::atomic<int> looks_ = 0;
    std::atomic<int> strangers_ = 0;
    std::thread thread_;
};

}  // namespace

TEST_CASE("while NVRTC compiles, the signal handlers of the application stay") {
    const std::shared_ptr<Nvrtc> nvrtc = Nvrtc::load(Options::from_environment());
    struct sigaction own {};
    struct sigaction before_int {};
    struct sigaction before_term {};
    own.sa_handler = handler_of_the_application;
    sigaction(SIGINT, &own, &before_int);
    sigaction(SIGTERM, &own, &before_term);

    HandlerWatch watch(handler_of_the_application);
    const NvrtcOutput output = nvrtc->compile(kernel_with_constants(2000), "kernel.cu", {"--gpu-architecture=sm_80"});
    watch.stop();
    sigaction(SIGINT, &before_int, nullptr);
    sigaction(SIGTERM, &before_term, nullptr);
    CHECK(output.ok);
    CHECK(watch.looks() > 10);
    CHECK(watch.strangers() == 0);
}
