#include "runtime/cache/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

/// \file One compile a key, whoever asks; and processes killed at the worst moment.

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

const CompileRequest kRequest = request_of("kernel_a");

/// Forks a child that runs the steps and ends with what they return; exceptions end it with 99.
pid_t start_child(const std::function<int()>& steps) {
    std::fflush(nullptr);  // or the child might print the parent's lines again
    const pid_t child = ::fork();
    if (child != 0) return child;
    int status = 99;
    try {
        status = steps();
    } catch (...) {
    }
    ::_exit(status);
}

int wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void kill_and_wait(pid_t child) {
    ::kill(child, SIGKILL);
    static_cast<void>(wait_for(child));
}

bool wait_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 20'000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
    return condition();
}

/// Several threads ask one cache for one key at the same moment; how many got a right kernel.
int ask_from_threads(KernelCache& cache, CountingCompiler& compiler, int threads) {
    std::latch start(threads);
    std::atomic<int> right = 0;
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i) {
        pool.emplace_back([&] {
            start.arrive_and_wait();
            const KernelCache::Result result = cache.get_or_compile(kRequest, compiler, kRequest.body);
            right += result.kernel.binary == CountingCompiler::binary_of(kRequest) ? 1 : 0;
        });
    }
    for (std::thread& thread : pool) thread.join();
    return right;
}

bool left_over(const std::string& root) { return fs::exists(root + "/tmp") && !fs::is_empty(root + "/tmp"); }

/// The state a killed process leaves must be healed by the next request, and no entry may be half there.
void check_heals(const std::string& root) {
    KernelCache cache(root, {});
    for (const CacheEntry& entry : cache.entries(true)) CHECK(entry.state == "ok");
    CountingCompiler compiler;
    CapturedLog log;
    const KernelCache::Result result = cache.get_or_compile(kRequest, compiler, kRequest.body);
    CHECK(result.kernel.binary == CountingCompiler::binary_of(kRequest));
    CHECK(cache.get_or_compile(kRequest, compiler, kRequest.body).source == CacheSource::disk);
    static_cast<void>(cache.drop_damaged());
    CHECK_FALSE(left_over(root));
    CHECK(cache.entries(true).size() == 1);
    CHECK(log.text().empty());
}

}  // namespace

TEST_CASE("many threads asking for one key compile once", "[threads]") {
    TemporaryFolder folder;
    CountingCompiler compiler;
    compiler.before_result = [] { std::this_thread::sleep_for(50ms); };
    KernelCache cache(folder / "cache", {});
    CHECK(ask_from_threads(cache, compiler, 16) == 16);
    CHECK(compiler.compiles() == 1);
}

TEST_CASE("many threads compile once even where nothing can be stored", "[threads]") {
    CountingCompiler compiler;
    compiler.before_result = [] { std::this_thread::sleep_for(500ms); };
    KernelCache cache({}, {});
    CHECK(ask_from_threads(cache, compiler, 8) == 8);
    CHECK(compiler.compiles() == 1);
}

TEST_CASE("two caches of one process on one folder compile once", "[threads]") {
    TemporaryFolder folder;
    CountingCompiler compiler;
    compiler.before_result = [] { std::this_thread::sleep_for(50ms); };
    KernelCache one(folder / "cache", {});
    KernelCache two(folder / "cache", {});
    std::thread other([&] { static_cast<void>(one.get_or_compile(kRequest, compiler, kRequest.body)); });
    static_cast<void>(two.get_or_compile(kRequest, compiler, kRequest.body));
    other.join();
    CHECK(compiler.compiles() == 1);
}

TEST_CASE("different keys do not wait for each other", "[threads]") {
    TemporaryFolder folder;
    CountingCompiler slow;
    CountingCompiler quick;
    KernelCache cache(folder / "cache", {});
    std::latch compiling(1);
    std::latch go_on(1);
    slow.before_result = [&] {
        compiling.count_down();
        go_on.wait();
    };
    std::thread waiting([&] { static_cast<void>(cache.get_or_compile(kRequest, slow, kRequest.body)); });
    compiling.wait();
    static_cast<void>(cache.get_or_compile(request_of("kernel_b", "other"), quick, "other"));
    CHECK(quick.compiles() == 1);
    go_on.count_down();
    waiting.join();
}

TEST_CASE("many processes with many threads compile once", "[threads]") {
    TemporaryFolder folder;
    const std::string tally = folder / "tally";
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        children.push_back(start_child([&] {
            CountingCompiler compiler;
            compiler.tally_file = tally;
            compiler.before_result = [] { std::this_thread::sleep_for(100ms); };
            KernelCache cache(folder / "cache", {});
            return ask_from_threads(cache, compiler, 4) == 4 ? 0 : 1;
        }));
    }
    for (const pid_t child : children) CHECK(wait_for(child) == 0);
    CHECK(text_in(tally).size() == 1);
    CHECK(fs::is_empty(folder / "cache/locks"));
    check_heals(folder / "cache");
}

TEST_CASE("an error reaches every waiting thread, and the next request tries again", "[threads]") {
    TemporaryFolder folder;
    CountingCompiler compiler;
    compiler.before_result = [] {
        std::this_thread::sleep_for(200ms);
        throw CompileError("refused", "log");
    };
    KernelCache cache(folder / "cache", {});
    std::atomic<int> errors = 0;
    std::vector<std::thread> pool;
    for (int i = 0; i < 4; ++i) {
        pool.emplace_back([&] {
            try {
                static_cast<void>(cache.get_or_compile(kRequest, compiler, kRequest.body));
            } catch (const CompileError&) {
                ++errors;
            }
        });
    }
    for (std::thread& thread : pool) thread.join();
    CHECK(errors == 4);
    compiler.before_result = nullptr;
    CHECK(cache.get_or_compile(kRequest, compiler, kRequest.body).source == CacheSource::compiled);
}

TEST_CASE("a process killed in the middle of a compile leaves nothing in the way", "[threads]") {
    TemporaryFolder folder;
    const pid_t child = start_child([&] {
        CountingCompiler compiler;
        compiler.before_result = [&] {
            put_text(folder / "compiling", "x");
            std::this_thread::sleep_for(1h);
        };
        return static_cast<int>(KernelCache(folder / "cache", {}).get_or_compile(kRequest, compiler, {}).source);
    });
    REQUIRE(wait_until([&] { return fs::exists(folder / "compiling"); }));
    CHECK_FALSE(fs::is_empty(folder / "cache/locks"));

    SECTION("the next process compiles") {}
    SECTION("a process that waits for it goes on when it dies") {
        const pid_t waiting = start_child([&] {
            CountingCompiler compiler;
            put_text(folder / "waiting", "x");
            KernelCache cache(folder / "cache", {});
            return cache.get_or_compile(kRequest, compiler, kRequest.body).source == CacheSource::compiled ? 0 : 1;
        });
        REQUIRE(wait_until([&] { return fs::exists(folder / "waiting"); }));
        std::this_thread::sleep_for(50ms);
        kill_and_wait(child);
        CHECK(wait_for(waiting) == 0);
    }
    kill_and_wait(child);
    check_heals(folder / "cache");
}

TEST_CASE("a process killed between two files of an entry leaves no half entry", "[threads]") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    // A large kernel.cu keeps the writer long enough between its files.
    const std::string large = std::string(48U << 20U, 'x') + kRequest.body;
    bool caught_half_written = false;
    for (int round = 0; round < 10; ++round) {
        const pid_t child = start_child([&] {
            CountingCompiler compiler;
            return static_cast<int>(KernelCache(root, {}).get_or_compile(kRequest, compiler, large).source);
        });
        static_cast<void>(wait_until([&] { return left_over(root) || !KernelCache(root, {}).entries(false).empty(); }));
        std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
        kill_and_wait(child);
        caught_half_written = caught_half_written || left_over(root);
        check_heals(root);
        static_cast<void>(KernelCache(root, {}).clear());
    }
    CHECK(caught_half_written);
}

TEST_CASE("left-overs in every state a kill can leave are removed", "[threads]") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    const std::string left = root + "/tmp/" + cache_key(kRequest, 130) + "-0123456789abcdef";
    fs::create_directories(left);
    SECTION("empty folder") {}
    SECTION("after kernel.cu") { put_text(left + "/kernel.cu", "x"); }
    SECTION("in the middle of the binary") {
        put_text(left + "/kernel.cu", "x");
        put_text(left + "/kernel.cubin", "x");
    }
    SECTION("before the rename") {
        for (const char* file : {"/kernel.cu", "/kernel.cubin", "/meta.json"}) put_text(left + file, "x");
    }
    check_heals(root);
}

TEST_CASE("a process that waits for a stopped holder says for whom, and goes on without it soon", "[threads]") {
    TemporaryFolder folder;
    const pid_t stopped = start_child([&] {
        CountingCompiler compiler;
        compiler.before_result = [&] { ::raise(SIGSTOP); };
        return static_cast<int>(KernelCache(folder / "cache", {}).get_or_compile(kRequest, compiler, {}).source);
    });
    int status = 0;
    REQUIRE(::waitpid(stopped, &status, WUNTRACED) == stopped);
    REQUIRE(WIFSTOPPED(status));

    CapturedLog log;
    CountingCompiler compiler;
    KernelCache cache(folder / "cache", {}, Durability::synced, {.quiet = 50ms, .longest = 200ms});
    CHECK(cache.get_or_compile(kRequest, compiler, kRequest.body).source == CacheSource::compiled);
    kill_and_wait(stopped);
    CHECK(log.lines_with("waiting for ") == 1);
    CHECK_THAT(log.text(), Catch::Matchers::ContainsSubstring(kRequest.name) &&
                               Catch::Matchers::ContainsSubstring(folder / "cache/locks/"));
    if (fs::exists("/proc/locks"))
        CHECK_THAT(log.text(), Catch::Matchers::ContainsSubstring(std::to_string(stopped)) &&
                                   Catch::Matchers::ContainsSubstring("stopped"));
}

TEST_CASE("a process that waits for a living one says nothing when that is done in time", "[threads]") {
    TemporaryFolder folder;
    const pid_t child = start_child([&] {
        CountingCompiler compiler;
        compiler.before_result = [&] {
            put_text(folder / "compiling", "x");
            std::this_thread::sleep_for(100ms);
        };
        return static_cast<int>(KernelCache(folder / "cache", {}).get_or_compile(kRequest, compiler, {}).source);
    });
    REQUIRE(wait_until([&] { return fs::exists(folder / "compiling"); }));
    CapturedLog log;
    CountingCompiler compiler;
    KernelCache cache(folder / "cache", {}, Durability::synced, {.quiet = 60s, .longest = 60s});
    CHECK(cache.get_or_compile(kRequest, compiler, kRequest.body).source == CacheSource::disk);
    CHECK(log.text().empty());
    static_cast<void>(wait_for(child));
}
