#include "runtime/tuning/workers/child_process.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char** environ;

namespace jitgemm::tuning {
namespace {

using namespace std::chrono_literals;
using Clock = ChildProcess::Clock;

constexpr auto kSendPatience = 10s;
constexpr auto kClosePatience = 2s;  // a CUDA context takes some hundred ms to be torn down

// ---- descriptors ----------------------------------------------------------------------------------------------------

struct Ends {
    FileDescriptor ours;
    FileDescriptor childs;
};

/// A process whose own standard streams are closed gets their numbers for new files; a child's would then be
/// overwritten while they are put in place.
FileDescriptor above_standard_streams(int number) {
    FileDescriptor descriptor(number);
    if (number > STDERR_FILENO) return descriptor;
    FileDescriptor above(fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!above) throw_system_error("cannot duplicate", "a descriptor");
    return above;
}

/// A socket, not a pipe: sending to a child that is gone is then an error (MSG_NOSIGNAL) and no SIGPIPE. Ours does
/// not block, so that a child that does not read cannot hold us.
Ends make_conversation() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw_system_error("cannot make", "a socket pair");
    Ends made{above_standard_streams(ends[0]), above_standard_streams(ends[1])};
    fcntl(made.ours.number(), F_SETFL, O_NONBLOCK);
    return made;
}

Ends make_stderr() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error("cannot make", "a pipe");
    Ends made{above_standard_streams(ends[0]), above_standard_streams(ends[1])};
    fcntl(made.ours.number(), F_SETFL, O_NONBLOCK);
    return made;
}

// ---- spawning -------------------------------------------------------------------------------------------------------

class SpawnActions {
public:
    SpawnActions(int conversation, int errors) {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_adddup2(&actions_, conversation, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, conversation, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
    [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

/// Signals that ask a whole group of processes to end. Children block them: their parent decides when they end.
constexpr std::array kGroupSignals{SIGINT, SIGTERM, SIGHUP};

/// Of all that a parent does with signals the child keeps only this: the group's signals are blocked.
class SpawnSignals {
public:
    SpawnSignals() {
        posix_spawnattr_init(&attributes_);
        sigset_t blocked, reset;
        sigemptyset(&blocked);
        for (const int signal : kGroupSignals) sigaddset(&blocked, signal);
        sigemptyset(&reset);
        sigaddset(&reset, SIGPIPE);
        posix_spawnattr_setsigmask(&attributes_, &blocked);
        posix_spawnattr_setsigdefault(&attributes_, &reset);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    SpawnSignals(const SpawnSignals&) = delete;
    SpawnSignals& operator=(const SpawnSignals&) = delete;
    ~SpawnSignals() { posix_spawnattr_destroy(&attributes_); }
    [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_{};
};

pid_t spawn(const std::vector<std::string>& words, int conversation, int errors) {
    if (words.empty()) throw Error("a child process needs a program");
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const SpawnActions actions(conversation, errors);
    const SpawnSignals signals;
    pid_t child = 0;
    const int error = posix_spawn(&child, arguments.front(), actions.get(), signals.get(), arguments.data(), environ);
    if (error != 0) throw Error(fmt::format("cannot start {}: {}", words.front(), std::strerror(error)));
    return child;
}

ExitStatus exit_status(int status) {
    if (WIFSIGNALED(status)) return {.code = 0, .signal = WTERMSIG(status)};
    return {.code = WEXITSTATUS(status), .signal = 0};
}

/// Of the signals that end a process by themselves or by another's hand. sigabbrev_np() is glibc's of 2.32.
constexpr std::string_view signal_name(int signal) {
    switch (signal) {
        case SIGABRT: return "SIGABRT";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGHUP: return "SIGHUP";
        case SIGILL: return "SIGILL";
        case SIGINT: return "SIGINT";
        case SIGKILL: return "SIGKILL";
        case SIGPIPE: return "SIGPIPE";
        case SIGQUIT: return "SIGQUIT";
        case SIGSEGV: return "SIGSEGV";
        case SIGSYS: return "SIGSYS";
        case SIGTERM: return "SIGTERM";
        case SIGTRAP: return "SIGTRAP";
        case SIGXCPU: return "SIGXCPU";
        default: return {};
    }
}

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

}  // namespace

bool was_killed(const ExitStatus& status) {
    switch (status.signal) {
        case 0:
        case SIGABRT:
        case SIGBUS:
        case SIGFPE:
        case SIGILL:
        case SIGSEGV:
        case SIGSYS:
        case SIGTRAP: return false;
        default: return true;
    }
}

std::string to_string(const ExitStatus& status) {
    if (status.signal == 0) return fmt::format("exit code {}", status.code);
    const std::string_view name = signal_name(status.signal);
    return name.empty() ? fmt::format("signal {}", status.signal) : fmt::format("signal {} ({})", status.signal, name);
}

// ---- the child ------------------------------------------------------------------------------------------------------

struct ChildProcess::Impl {
    explicit Impl(const std::vector<std::string>& words) {
        Ends talk = make_conversation();
        Ends stderr_pipe = make_stderr();
        pid = spawn(words, talk.childs.number(), stderr_pipe.childs.number());
        conversation = std::move(talk.ours);
        errors = std::move(stderr_pipe.ours);
    }

    [[nodiscard]] std::optional<std::string> take_line();
    void poll_once(int milliseconds);
    void read_conversation();
    void read_errors();
    bool reap_within(Clock::duration patience);
    void reap_or_kill();
    void kill();

    pid_t pid = 0;
    FileDescriptor conversation;
    FileDescriptor errors;
    std::string unread;  ///< what came and was not yet taken as lines
    std::string tail;
    bool closed = false;               ///< it sends no more
    std::optional<ExitStatus> status;  ///< once reaped
};

std::optional<std::string> ChildProcess::Impl::take_line() {
    const std::size_t end = unread.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = unread.substr(0, end);
    unread.erase(0, end + 1);
    return line;
}

void ChildProcess::Impl::poll_once(int milliseconds) {
    // A negative descriptor is one that poll ignores.
    std::array<pollfd, 2> watched{pollfd{closed ? -1 : conversation.number(), POLLIN, 0},
                                  pollfd{errors.number(), POLLIN, 0}};
    if (poll(watched.data(), watched.size(), milliseconds) <= 0) return;
    if (watched[1].revents != 0) read_errors();
    if (watched[0].revents != 0) read_conversation();
}

void ChildProcess::Impl::read_conversation() {
    std::array<char, 1 << 14> buffer;
    const ssize_t count = ::read(conversation.number(), buffer.data(), buffer.size());
    if (count > 0) unread.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) closed = true;
}

void ChildProcess::Impl::read_errors() {
    std::array<char, 1 << 12> buffer;
    ssize_t count = 0;
    while ((count = ::read(errors.number(), buffer.data(), buffer.size())) > 0) {
        tail.append(buffer.data(), static_cast<std::size_t>(count));
        if (tail.size() > kStderrTail) tail.erase(0, tail.size() - kStderrTail);
    }
    if (count == 0) errors = FileDescriptor();
}

bool ChildProcess::Impl::reap_within(Clock::duration patience) {
    const Clock::time_point deadline = Clock::now() + patience;
    while (!status) {
        int raw = 0;
        const pid_t reaped = waitpid(pid, &raw, WNOHANG);
        if (reaped == pid) status = exit_status(raw);
        // Somebody else's SIGCHLD handling took it: how it ended is not known.
        if (reaped < 0 && errno == ECHILD) status = ExitStatus{.code = -1, .signal = 0};
        if (status || Clock::now() >= deadline) break;
        if (errors)
            poll_once(1);
        else
            std::this_thread::sleep_for(1ms);
    }
    if (status && errors) read_errors();
    return status.has_value();
}

void ChildProcess::Impl::reap_or_kill() {
    if (!reap_within(kClosePatience)) kill();
}

void ChildProcess::Impl::kill() {
    if (status) return;
    ::kill(pid, SIGKILL);
    // A process stuck in a driver's call cannot be waited for for ever; it becomes init's when this one ends.
    if (!reap_within(kSendPatience)) {
        log().warn("process {} was killed but still runs", pid);
        status = ExitStatus{.code = 0, .signal = SIGKILL};
    }
}

ChildProcess::ChildProcess(const std::vector<std::string>& words) : impl_(std::make_unique<Impl>(words)) {}

ChildProcess::~ChildProcess() {
    if (impl_ == nullptr) return;
    impl_->conversation = FileDescriptor();
    impl_->reap_or_kill();
}

ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;
ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
}

bool ChildProcess::send(const std::string& line) {
    const std::string text = line + '\n';
    const Clock::time_point deadline = Clock::now() + kSendPatience;
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t sent = ::send(impl_->conversation.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
        if (sent >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN || Clock::now() >= deadline) return false;
        pollfd writable{impl_->conversation.number(), POLLOUT, 0};
        static_cast<void>(poll(&writable, 1, milliseconds_until(deadline)));
    }
    return true;
}

Received ChildProcess::receive(Clock::time_point deadline) {
    while (true) {
        if (std::optional<std::string> line = impl_->take_line())
            return {.kind = Received::Kind::line, .line = *std::move(line), .status = {}};
        if (impl_->closed || impl_->status) {
            impl_->reap_or_kill();
            return {.kind = Received::Kind::ended, .line = {}, .status = *impl_->status};
        }
        if (Clock::now() >= deadline) return {};
        impl_->poll_once(milliseconds_until(deadline));
    }
}

void ChildProcess::kill() { impl_->kill(); }

int ChildProcess::pid() const { return impl_->pid; }

std::string ChildProcess::stderr_tail() const { return impl_->tail; }

}  // namespace jitgemm::tuning
