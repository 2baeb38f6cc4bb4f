#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// How a process ended.
struct ExitStatus {
    int code = 0;    ///< of exit(); meaningless after a signal
    int signal = 0;  ///< that ended it; 0: none did
    friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};
/// Whether somebody else ended it: by a signal that no program brings on itself by a fault. The kernel sends SIGKILL
/// where memory runs out.
[[nodiscard]] bool was_killed(const ExitStatus& status);
/// "exit code 3", "signal 11 (SIGSEGV)".
[[nodiscard]] std::string to_string(const ExitStatus& status);

/// What waiting for a child gave.
struct Received {
    enum class Kind : std::uint8_t { line, ended, timed_out };
    Kind kind = Kind::timed_out;
    std::string line;   ///< without its newline
    ExitStatus status;  ///< of a child that ended
};

/// A child spoken to in lines over its stdin and stdout. Its stderr is drained, and the end of it kept.
///
/// It is spawned (posix_spawn), never forked, so it may be made by a process with threads. It inherits none of our
/// descriptors, and SIGINT, SIGTERM and SIGHUP are blocked in it: Ctrl-C, a batch system and a closed terminal reach
/// the whole group, and only the parent may decide what becomes of its children. Closing a child is closing its stdin;
/// one that does not end by that is killed. Not thread-safe: one thread per child.
class ChildProcess {
public:
    using Clock = std::chrono::steady_clock;

    /// The first word is a path. Throws Error naming it when it cannot be started.
    explicit ChildProcess(const std::vector<std::string>& words);
    /// Closes its stdin, waits a little, kills it if it still runs, and reaps it.
    ~ChildProcess();
    ChildProcess(ChildProcess&&) noexcept;
    ChildProcess& operator=(ChildProcess&&) noexcept;

    /// False when the child no longer reads (it ended, or is stuck with a full pipe for ten seconds). A newline is
    /// added.
    [[nodiscard]] bool send(const std::string& line);
    /// The next line, or how it ended, whatever comes first; a child that ended is reaped and stays `ended`.
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
