#pragma once

#include "runtime/tuning/workers/child_process.hpp"
#include "runtime/tuning/workers/worker_messages.hpp"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace jitgemm::tuning {

/// A worker that ended, was killed or spoke nonsense in place of answering.
struct WorkerEnd {
    bool timed_out = false;
    bool tells_nothing = false;  ///< of the kernel at hand: somebody else killed it, or its error was not the job's
    std::string message;         ///< how it ended, and its last words on stderr
    std::optional<WorkerRefusal> refusal = {};
};

/// How long to wait yet for a child, which is looked at ten times per second. Between two looks only time in which this
/// process could run counts: whatever stops it stops its children, too (Ctrl-Z, a paused container).
class Patience {
public:
    using Clock = ChildProcess::Clock;
    explicit Patience(Clock::duration left) : left_(left) {}
    [[nodiscard]] bool is_over() const { return left_ <= Clock::duration::zero(); }
    [[nodiscard]] Clock::time_point next_look();
    void looked();  ///< since next_look() was asked

private:
    Clock::duration left_;
    Clock::time_point last_;
};

/// The parent's end of a conversation with one worker process.
class WorkerProcess {
public:
    using Clock = ChildProcess::Clock;

    /// Starts it and waits for its hello. Throws Error or CudaError with its refusal, or saying how it ended instead.
    explicit WorkerProcess(const std::vector<std::string>& words, Clock::duration patience = kStartPatience);

    [[nodiscard]] const WorkerHello& hello() const { return hello_; }
    [[nodiscard]] int pid() const { return child_.pid(); }
    [[nodiscard]] bool has_ended() const { return ended_; }
    void send(const WorkerRequest& request);
    /// The next reply; `meanwhile` is called at first and then ten times per second. After an end the process is dead
    /// and must not be used further.
    [[nodiscard]] std::variant<WorkerReply, WorkerEnd> receive(
        Clock::time_point deadline, const std::function<void()>& meanwhile = [] {});
    /// The same; nothing when the deadline passed, and the worker lives on.
    [[nodiscard]] std::optional<std::variant<WorkerReply, WorkerEnd>> receive_until(Clock::time_point deadline);
    [[nodiscard]] WorkerEnd kill(bool timed_out, const std::string& why);

    /// Opening a CUDA context on a machine with many GPUs takes seconds; with a cold page cache NVRTC does as well.
    static constexpr Clock::duration kStartPatience = std::chrono::seconds(120);

private:
    [[nodiscard]] WorkerEnd end_of(const ExitStatus& status);
    [[nodiscard]] std::string with_last_words(const std::string& message) const;

    ChildProcess child_;
    WorkerHello hello_;
    bool ended_ = false;
};

}  // namespace jitgemm::tuning
