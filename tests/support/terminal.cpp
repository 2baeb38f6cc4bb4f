#include "tests/support/terminal.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jitgemm::testing {
namespace {

constexpr std::string_view kClearLine = "\r\x1b[K";

/// A pseudo-terminal: what is written to the slave is read from the master.
struct Terminal {
    int master = -1;
    int slave = -1;
};

Terminal open_terminal(unsigned short columns) {
    Terminal terminal;
    terminal.master = ::posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(terminal.master >= 0);
    REQUIRE(::grantpt(terminal.master) == 0);
    REQUIRE(::unlockpt(terminal.master) == 0);
    terminal.slave = ::open(::ptsname(terminal.master), O_RDWR | O_NOCTTY);  // NOLINT(concurrency-mt-unsafe)
    REQUIRE(terminal.slave >= 0);
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    REQUIRE(::ioctl(terminal.slave, TIOCSWINSZ, &size) == 0);
    return terminal;
}

std::string all_of(int file) {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(file, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(got));
    return text;  // a terminal whose last writer is gone fails to be read
}

}  // namespace

TerminalRun run_on_terminal(const std::string& command, unsigned short columns) {
    const Terminal terminal = open_terminal(columns);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(terminal.slave, STDERR_FILENO);
        ::close(terminal.slave);
        ::close(terminal.master);
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(terminal.slave);
    TerminalRun run;
    run.err = all_of(terminal.master);
    ::close(terminal.master);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return run;
}

std::vector<std::string> shown_lines(const std::string& err) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < err.size();) {
        const std::size_t end = std::min(err.find(kClearLine, begin), err.size());
        if (end > begin) lines.push_back(err.substr(begin, end - begin));
        begin = end + kClearLine.size();
    }
    return lines;
}

}  // namespace jitgemm::testing
