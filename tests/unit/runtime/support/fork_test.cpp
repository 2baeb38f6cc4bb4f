#include "runtime/support/fork.hpp"

#include "jitgemm/error.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "runtime/compiler/nvrtc_record.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/support/log.hpp"
#include "tests/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace jitgemm;
using namespace std::chrono_literals;
using jitgemm::testing::FakeCompiler;
using jitgemm::testing::FakeDevice;
using jitgemm::testing::in_child;
using jitgemm::testing::put_text;

namespace {

constexpr unsigned kMostSecondsOfAChild = 60;

/// In a child that ends by a signal where it hangs.
int in_bounded_child(const std::function<int()>& steps) {
    return in_child([&] {
        ::alarm(kMostSecondsOfAChild);
        return steps();
    });
}

enum Outcome : int { kGuarded = 10, kRefused = 11 };

int take_guard() {
    try {
        const ForkGuard guard;
        return kGuarded;
    } catch (const CompileError&) {
        return kRefused;
    }
}

/// Another thread that does something until it is told to stop.
class Meanwhile {
public:
    explicit Meanwhile(std::function<void(Meanwhile&)> work)
        : thread_([this, work = std::move(work)] { work(*this); }) {
        while (!begun_) std::this_thread::sleep_for(1ms);
    }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;
    ~Meanwhile() {
        stop_ = true;
        thread_.join();
    }
    void begin() { begun_ = true; }
    void wait_for_stop() const {
        while (!stop_) std::this_thread::sleep_for(1ms);
    }

private:
    std::atomic<bool> begun_ = false;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

struct Patience {
    explicit Patience(std::chrono::milliseconds most) { set_fork_patience(most); }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;
    ~Patience() { set_fork_patience(10s); }
};

}  // namespace

TEST_CASE("a fork waits for the guards of other threads, and not for its own") {
    std::atomic<bool> ended = false;
    const Meanwhile guarded([&](Meanwhile& self) {
        const ForkGuard guard;
        self.begin();
        std::this_thread::sleep_for(100ms);
        ended = true;
    });
    const ForkGuard own;
    CHECK(in_bounded_child([&] { return ended ? take_guard() : 1; }) == kGuarded);
    CHECK(take_guard() == kGuarded);
}

TEST_CASE("a child whose fork could not wait is refused, and its parent goes on") {
    const Patience patience(50ms);
    {
        const Meanwhile guarded([](Meanwhile& self) {
            const ForkGuard guard;
            self.begin();
            self.wait_for_stop();
        });
        CHECK(in_bounded_child(take_guard) == kRefused);
        CHECK(take_guard() == kGuarded);
    }
    CHECK(in_bounded_child(take_guard) == kGuarded);
}

TEST_CASE("a fork waits for no thread that waits for somebody else") {
    const Meanwhile paused([](Meanwhile& self) {
        const ForkGuard guard;
        const ForkGuard nested;
        const ForkPause pause;
        self.begin();
        self.wait_for_stop();
    });
    const auto before = std::chrono::steady_clock::now();
    CHECK(in_bounded_child(take_guard) == kGuarded);
    CHECK(std::chrono::steady_clock::now() - before < 9s);
}

TEST_CASE("forks beside forks and guards beside guards end") {
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            while (!stop) {
                const ForkGuard guard;
                std::this_thread::sleep_for(1ms);
            }
        });
    std::atomic<int> served = 0;
    std::vector<std::thread> forks;
    for (int i = 0; i < 2; ++i)
        forks.emplace_back([&] {
            for (int repeat = 0; repeat < 10; ++repeat) {
                const int outcome = in_bounded_child(take_guard);
                served += outcome == kGuarded || outcome == kRefused ? 1 : 0;
            }
        });
    for (std::thread& thread : forks) thread.join();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(served == 20);
}

namespace {

/// A listener that holds up whoever logs a message with this text, until it is let go.
class HeldUp {
public:
    explicit HeldUp(std::string text) {
        set_log_listener([this, text = std::move(text)](LogLevel, const std::string& message) {
            if (message.find(text) == std::string::npos) return;
            is_held_ = true;
            while (!is_free_) std::this_thread::sleep_for(1ms);
        });
    }
    HeldUp(const HeldUp&) = delete;
    HeldUp& operator=(const HeldUp&) = delete;
    ~HeldUp() {
        is_free_ = true;
        set_log_listener({});
    }
    void wait() const {
        while (!is_held_) std::this_thread::sleep_for(1ms);
    }
    void let_go() { is_free_ = true; }

private:
    std::atomic<bool> is_held_ = false;
    std::atomic<bool> is_free_ = false;
};

/// The exit code of a child whose fork begins while one thread is held up in the steps and another waits for it.
int outcome_beside(HeldUp& held, const std::function<void()>& steps) {
    std::thread first(steps);
    held.wait();
    std::thread second(steps);
    std::this_thread::sleep_for(100ms);
    std::thread release([&] {
        std::this_thread::sleep_for(200ms);
        held.let_go();
    });
    const int outcome = in_bounded_child(take_guard);
    for (std::thread* const thread : {&first, &second, &release}) thread->join();
    return outcome;
}

}  // namespace

TEST_CASE("a fork waits for no thread that waits for one which waits for the fork: tuned choices, NVRTC's version") {
    const jitgemm::testing::TemporaryFolder folder;
    const Patience patience(2s);
    SECTION("tuned choices") {
        Options options;
        options.wisdom = folder / "wisdom.jsonl";
        put_text(options.wisdom, "{\"jitgemm wisdom\": 2}\nno winner\n");
        ContextState context(options, std::make_shared<FakeDevice>(), std::make_shared<FakeCompiler>());
        HeldUp held("wisdom");
        CHECK(outcome_beside(held, [&] {
                  static_cast<void>(context.choose(problem_of({.m = 64, .n = 64, .k = 64})));
              }) == kGuarded);
    }
    SECTION("NVRTC's version") {
        Options options;
        options.nvrtc_library = folder / "libnvrtc.so";
        NvrtcRecord(folder.path(), nvrtc_search_list(options, 0), 0).write({130, "0"}, "/proc/self/exe");
        for (const auto& file : std::filesystem::directory_iterator(folder.path())) put_text(file.path(), "no record");
        const auto compiler = make_nvrtc_compiler(options, 0, folder.path());
        set_log_level("debug");
        HeldUp held("ignoring");
        CHECK(outcome_beside(held, [&] {
                  const ForkGuard guard;
                  static_cast<void>(compiler->nvrtc_version());
              }) == kGuarded);
        set_log_level("warning");
    }
}

TEST_CASE("a child can log while a thread of its parent is within a listener") {
    std::atomic<bool> stop = false;
    std::atomic<bool> within = false;
    set_log_listener([&](LogLevel, const std::string&) {
        within = true;
        while (!stop) std::this_thread::sleep_for(1ms);
    });
    std::thread logs([] { log().error("waits"); });
    while (!within) std::this_thread::sleep_for(1ms);
    stop = false;
    CHECK(in_bounded_child([&] {
              stop = true;
              log().error("goes on");
              return 7;
          }) == 7);
    stop = true;
    logs.join();
    set_log_listener({});
}

TEST_CASE("a fork uses no context, kernel or memory of its parent, and may drop them") {
    const auto device = std::make_shared<FakeDevice>();
    auto context = std::make_unique<ContextState>(Options{}, device, std::make_shared<FakeCompiler>());
    GemmKernel kernel = context->kernel({.m = 64, .n = 64, .k = 64});
    const auto is_refused = [](const auto& use) {
        try {
            use();
            return false;
        } catch (const Error&) {
            return true;
        }
    };
    CHECK(in_bounded_child([&] {
              const bool refused = is_refused([&] { kernel.launch({}); }) &&
                                   is_refused([&] { static_cast<void>(kernel.info()); }) &&
                                   is_refused([&] { static_cast<void>(state_of(kernel)); });
              const int uses = static_cast<int>(device.use_count());
              kernel = {};
              return refused && device.use_count() == uses ? 5 : 6;  // nothing of the device is given back
          }) == 5);
    CHECK(kernel.info().name == kernel.info().name);
}

TEST_CASE("a public context of the parent is refused in a fork, and ends there without a word") {
    Options options;
    options.device = "emulator";
    auto context = std::make_unique<Context>(options);
    DeviceBuffer buffer = context->allocate(64);
    CHECK(in_bounded_child([&] {
              try {
                  static_cast<void>(context->kernel({.m = 8, .n = 8, .k = 8}));
                  return 1;
              } catch (const CompileError&) {
                  return 2;
              } catch (const Error&) {
              }
              *context = Context(options);  // one of its own
              buffer = {};
              return context->arch() == "sm_80" ? 3 : 4;
          }) == 3);
    CHECK(context->arch() == "sm_80");
}
