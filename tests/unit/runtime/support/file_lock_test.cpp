#include "runtime/support/file_lock.hpp"

#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/without_locks.hpp"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
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
    std::error_code hindrance;
    CHECK_FALSE(FileLock::acquire(folder / "none/lock", 0ms, hindrance));
    CHECK(hindrance.value() == ENOENT);
}

TEST_CASE("where there are no locks, that is no holder's doing, is logged once at most, and leaves no file") {
    const TemporaryFolder folder;
    const jitgemm::testing::CapturedLog captured;
    std::error_code hindrance;
    {
        const std::optional<FileLock> held = FileLock::acquire(folder / "held", 0ms);
        REQUIRE(held);
        CHECK_FALSE(FileLock::acquire(folder / "held", 0ms, hindrance));
        CHECK_FALSE(hindrance);
    }
    std::ofstream(folder / "older").put('x');
    for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
        const jitgemm::testing::WithoutLocks none(error);
        CHECK_FALSE(FileLock::acquire(folder / "lock", 10s, hindrance));
        CHECK(hindrance.value() == error);
        CHECK_FALSE(std::filesystem::exists(folder / "lock"));
        CHECK_FALSE(FileLock::acquire(folder / "older", 10s, hindrance));
        CHECK(std::filesystem::exists(folder / "older"));  // whoever made it may have a lock on it
    }
    CHECK(captured.lines_with("cannot be locked") <= 1);
    CHECK(FileLock::acquire(folder / "lock", 0ms, hindrance));
    CHECK_FALSE(hindrance);
}

TEST_CASE("a lock whose file is never the one at its path is none, after the patience", "[threads]") {
    const TemporaryFolder folder;
    const auto start = std::chrono::steady_clock::now();
    std::error_code hindrance;
    const auto never = [](int, const std::string&) { return false; };
    CHECK_FALSE(FileLock::acquire(folder / "lock", 30ms, hindrance, never));
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
