#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// The end of a process.
struct ExitStatus {
    int code = 0;    ///< of exit(); meaningless after a signal
    int signal = 0;  ///< the signal that ended it; 0: none
    friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};
/// Whether somebody else ended it: by a signal that no fault of a program causes. The kernel sends SIGKILL if memory
/// runs out.
[[nodiscard]] bool was_killed(const ExitStatus& status);
/// "exit code 3", "signal 11 (SIGSEGV)".
[[nodiscard]] std::string to_string(const ExitStatus& status);

/// The result of waiting for a child.
struct Received {
    enum class Kind : std::uint8_t { line, ended, timed_out };
    Kind kind = Kind::timed_out;
    std::string line;   ///< without its newline
    ExitStatus status;  ///< of a child that has ended
};

/// A child process. Lines go to its stdin and come from its stdout. Its stderr is drained, and its end is kept. It is
/// spawned (posix_spawn) and never forked, so a process with threads may make it. It inherits none of our descriptors,
/// and SIGINT, SIGTERM and SIGHUP are blocked in it: Ctrl-C, a batch system and a closed terminal reach the whole
/// group, and only the parent may end its children. Closing a child means closing its stdin; a child that does not end
/// then is killed. Not thread-safe: one thread per child.
class ChildProcess {
public:
    using Clock = std::chrono::steady_clock;

    /// The first word is a path. Throws Error with it if it cannot be started.
    explicit ChildProcess(const std::vector<std::string>& words);
    /// Closes its stdin, waits a little, kills it if it still runs, and reaps it.
    ~ChildProcess();
    ChildProcess(ChildProcess&&) noexcept;
    ChildProcess& operator=(ChildProcess&&) noexcept;

    /// False if the child no longer reads (it has ended, or its pipe has been full for ten seconds). A newline is
    /// added.
    [[nodiscard]] bool send(const std::string& line);
    /// The next line, or the end of the child. A child that has ended is reaped and stays `ended`.
    [[nodiscard]] Received receive(Clock::time_point deadline);
    /// Ends it at once (SIGKILL) and reaps it.
    void kill();

    [[nodiscard]] int pid() const;
    /// The last lines it wrote to stderr, at most kStderrTail bytes.
    [[nodiscard]] std::string stderr_tail() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

inline constexpr std::size_t kStderrTail = 4096;

}  // namespace jitgemm::tuning
