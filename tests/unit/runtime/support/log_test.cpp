#include "runtime/support/log.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/says.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace jitgemm;

TEST_CASE("the log says what its level lets through") {
    const testing::CapturedLog captured("warning");
    log().info("unheard");
    log().warn("heard");
    CHECK(captured.text() == "warning: heard\n");
    set_log_level("info");
    log().info("heard now");
    CHECK(captured.lines_with("heard now") == 1);
    set_log_level("off");
    log().error("unheard");
    CHECK(captured.lines_with("unheard") == 0);
}

TEST_CASE("an unknown log level names the known ones") {
    CHECK_THROWS_WITH(set_log_level("loud"), testing::Says("unknown", "'loud'"));
}

namespace {

bool has_last_words = false;

/// Runs after the destructors of all that has static storage.
__attribute__((destructor)) void say_last_words() {
    if (has_last_words) log().error("last words");
}

}  // namespace

TEST_CASE("a fork while another thread's line is on its way leaves a child that logs") {
    const pid_t parent = ::getpid();
    std::promise<void> begun, go_on;
    set_log_listener([&](LogLevel, const std::string&) {
        if (::getpid() != parent) return;
        begun.set_value();
        go_on.get_future().wait();
    });
    std::thread thread([] { log().error("a line that takes long"); });
    begun.get_future().wait();
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);  // ends a child that waits for ever
        log().error("the child's line");
        ::_exit(0);
    }
    go_on.set_value();
    thread.join();
    set_log_listener({});
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("the log outlives what has static storage: the end of the process does not destroy it") {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(pipe[0]);
        ::close(STDOUT_FILENO);
        ::dup2(pipe[1], STDERR_FILENO);
        has_last_words = true;
        std::exit(0);  // NOLINT(concurrency-mt-unsafe): destroys what has static storage, which is the point
    }
    ::close(pipe[1]);
    std::string said(256, '\0');
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(pipe[0], said.data(), said.size()))));
    ::close(pipe[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK_THAT(said, testing::Says("jitgemm", "error", "last words"));
}
