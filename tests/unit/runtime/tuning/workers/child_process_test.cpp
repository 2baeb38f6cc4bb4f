#include "runtime/tuning/workers/child_process.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include <unistd.h>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;

namespace {

ChildProcess shell(const std::string& script) { return ChildProcess({"/bin/sh", "-c", script}); }

ChildProcess::Clock::time_point soon() { return ChildProcess::Clock::now() + 10s; }

std::size_t open_descriptors() {
    const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

bool process_exists(int pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("a child is spoken to in lines") {
    ChildProcess child = shell("while read word; do echo \"got $word\"; done");
    REQUIRE(child.send("one"));
    REQUIRE(child.send("two"));
    CHECK(child.receive(soon()).line == "got one");
    CHECK(child.receive(soon()).line == "got two");
}

TEST_CASE("lines longer than a socket's buffer go both ways") {
    const std::string line(1 << 19, 'x');
    ChildProcess reader = shell("head -n 1 | wc -c");
    REQUIRE(reader.send(line));
    CHECK(std::stoul(reader.receive(soon()).line) == line.size() + 1);
    ChildProcess writer = shell("head -c 500000 /dev/zero | tr '\\0' y; echo");
    CHECK(writer.receive(soon()).line == std::string(500000, 'y'));
}

TEST_CASE("how a child ended is told, after all it said") {
    SECTION("exit code") {
        ChildProcess child = shell("echo last; exit 3");
        CHECK(child.receive(soon()).line == "last");
        const Received end = child.receive(soon());
        CHECK(end.kind == Received::Kind::ended);
        CHECK(end.status == ExitStatus{3, 0});
        CHECK(to_string(end.status) == "exit code 3");
        CHECK(child.receive(soon()).status == end.status);
    }
    SECTION("signal") {
        ChildProcess child = shell("kill -SEGV $$");
        const Received end = child.receive(soon());
        CHECK(end.status == ExitStatus{0, SIGSEGV});
        CHECK(to_string(end.status) == "signal 11 (SIGSEGV)");
        CHECK_FALSE(was_killed(end.status));
    }
    SECTION("somebody else's signal") {
        ChildProcess child = shell("kill -KILL $$");
        CHECK(was_killed(child.receive(soon()).status));
        CHECK(was_killed({0, SIGTERM}));
        CHECK(was_killed({0, SIGXCPU}));
        for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP})
            CHECK_FALSE(was_killed({0, signal}));
        CHECK_FALSE(was_killed({9, 0}));
    }
}

TEST_CASE("a deadline passes without harm") {
    ChildProcess child = shell("read word; echo $word");
    CHECK(child.receive(ChildProcess::Clock::now() + 50ms).kind == Received::Kind::timed_out);
    REQUIRE(child.send("still there"));
    CHECK(child.receive(soon()).line == "still there");
}

TEST_CASE("writing to a child that is gone is no signal") {
    ChildProcess child = shell("exit 0");
    REQUIRE(child.receive(soon()).kind == Received::Kind::ended);
    CHECK_FALSE(child.send("anyone?"));
}

TEST_CASE("the end of stderr is kept") {
    ChildProcess child = shell("for i in $(seq 5000); do echo line $i >&2; done; echo done");
    CHECK(child.receive(soon()).line == "done");
    REQUIRE(child.receive(soon()).kind == Received::Kind::ended);
    const std::string tail = child.stderr_tail();
    CHECK(tail.size() == kStderrTail);
    CHECK(tail.ends_with("line 5000\n"));
}

TEST_CASE("a child that ignores the end of its stdin is killed") {
    const auto begin = std::chrono::steady_clock::now();
    int pid = 0;
    {
        ChildProcess child = shell("echo up; exec sleep 1000");
        REQUIRE(child.receive(soon()).line == "up");
        pid = child.pid();
        REQUIRE(process_exists(pid));
    }
    CHECK_FALSE(process_exists(pid));  // reaped: no zombie either
    CHECK(std::chrono::steady_clock::now() - begin < 10s);
}

TEST_CASE("what asks a whole group of processes to end does not reach a child: Ctrl-C, SIGTERM, SIGHUP") {
    ChildProcess child = shell("echo up; read word; echo $word");
    REQUIRE(child.receive(soon()).line == "up");
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) REQUIRE(::kill(child.pid(), signal) == 0);
    REQUIRE(child.send("alive"));
    CHECK(child.receive(soon()).line == "alive");
}

TEST_CASE("children inherit nothing of each other, and leave nothing behind") {
    const auto open_files = [] {
        ChildProcess child = shell("ls /proc/self/fd | wc -l");
        return std::stoi(child.receive(soon()).line);
    };
    const std::size_t before = open_descriptors();
    {
        const int alone = open_files();
        const ChildProcess one = shell("read word"), two = shell("read word");
        CHECK(open_files() == alone);
        CHECK(open_descriptors() > before);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("a program that is not there is an error that names it") {
    CHECK_THROWS_WITH(ChildProcess({"/nowhere/jitgemm"}), Catch::Matchers::ContainsSubstring("/nowhere/jitgemm"));
    CHECK_THROWS_AS(ChildProcess({}), Error);
}
