#include "runtime/support/file_lock.hpp"

#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

using jitgemm::FileLock;
using jitgemm::testing::TemporaryFolder;
using namespace std::chrono_literals;

TEST_CASE("a lock excludes others, waits no longer than told, and takes its file along", "[threads]") {
    const TemporaryFolder folder;
    const std::string path = folder / "lock";
    {
        const std::optional<FileLock> held = FileLock::acquire(path, 0ms);
        REQUIRE(held);
        CHECK(std::filesystem::exists(path));
        const auto start = std::chrono::steady_clock::now();
        CHECK_FALSE(FileLock::acquire(path, 30ms));
        CHECK(std::chrono::steady_clock::now() - start >= 30ms);
    }
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(FileLock::acquire(path, 0ms));
}

TEST_CASE("a lock that cannot be made is none", "[threads]") {
    const TemporaryFolder folder;
    CHECK_FALSE(FileLock::acquire(folder / "none/lock", 0ms));
}

TEST_CASE("a lock whose file is never the one at its path is none, after the patience", "[threads]") {
    const TemporaryFolder folder;
    const auto start = std::chrono::steady_clock::now();
    CHECK_FALSE(FileLock::acquire(folder / "lock", 30ms, [](int, const std::string&) { return false; }));
    const auto waited = std::chrono::steady_clock::now() - start;
    CHECK(waited >= 30ms);
    CHECK(waited < 10s);
}

TEST_CASE("never two holders, though each release removes the file", "[threads]") {
    const TemporaryFolder folder;
    std::atomic<int> holders = 0;
    std::atomic<int> most = 0;
    std::atomic<int> turns = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < 20; ++turn) {
                const std::optional<FileLock> lock = FileLock::acquire(folder / "lock", 60s);
                if (!lock) continue;
                const int now = ++holders;
                if (now > most) most = now;
                ++turns;
                --holders;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(most == 1);
    CHECK(turns == 120);
}
