#pragma once

#include "runtime/tuning/workers/child_process.hpp"
#include "runtime/tuning/workers/worker_messages.hpp"

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace jitgemm::tuning {

/// A worker that ended, was killed or sent a malformed message in place of an answer.
struct WorkerEnd {
    bool timed_out = false;
    bool tells_nothing =
        false;            ///< not the kernel's fault: somebody else killed the worker, or its error was not the job's
    std::string message;  ///< the way of its end, and its last words on stderr
    std::optional<WorkerRefusal> refusal = {};
};

/// The remaining wait for a child, which is checked ten times per second. Between two checks only time in which this
/// process could run counts, because whatever stops it also stops its children (Ctrl-Z, a paused container).
class Patience {
public:
    using Clock = ChildProcess::Clock;
    explicit Patience(Clock::duration left) : left_(left) {}
    [[nodiscard]] bool is_over() const { return left_ <= Clock::duration::zero(); }
    [[nodiscard]] Clock::time_point next_look();
    void looked();  ///< after next_look() was asked

private:
    Clock::duration left_;
    Clock::time_point last_;
};

/// The parent's end of a conversation with one worker process.
class WorkerProcess {
public:
    using Clock = ChildProcess::Clock;

    /// Starts it and waits for its hello. Throws Error or CudaError with its refusal, or with the way of its end.
    explicit WorkerProcess(const std::vector<std::string>& words, Clock::duration patience = kStartPatience);

    [[nodiscard]] const WorkerHello& hello() const { return hello_; }
    [[nodiscard]] int pid() const { return child_.pid(); }
    [[nodiscard]] bool has_ended() const { return ended_; }
    void send(const WorkerRequest& request);
    /// The next reply. `meanwhile` is called at first and then ten times per second. After an end the process must not
    /// be used further.
    [[nodiscard]] std::variant<WorkerReply, WorkerEnd> receive(
        Clock::time_point deadline, const std::function<void()>& meanwhile = [] {});
    /// The same; nothing if the deadline has passed. The worker then lives on.
    [[nodiscard]] std::optional<std::variant<WorkerReply, WorkerEnd>> receive_until(Clock::time_point deadline);
    [[nodiscard]] WorkerEnd kill(bool timed_out, const std::string& why);

    /// Opening a CUDA context on a machine with many GPUs takes seconds, and so does NVRTC with a cold page cache.
    static constexpr Clock::duration kStartPatience = std::chrono::seconds(120);

private:
    [[nodiscard]] WorkerEnd end_of(const ExitStatus& status);
    [[nodiscard]] std::string with_last_words(const std::string& message) const;

    ChildProcess child_;
    WorkerHello hello_;
    bool ended_ = false;
};

}  // namespace jitgemm::tuning
