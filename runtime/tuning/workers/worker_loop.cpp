#include "runtime/tuning/workers/worker_loop.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_descriptor.hpp"

#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include <fcntl.h>

namespace jitgemm::tuning {
namespace {

constexpr int kExitFine = 0;
constexpr int kExitRefused = 1;

/// A thread of its own reads the lines of stdin. stdin ends when the parent ends or closes it. Then the process ends,
/// even during a compilation or a kernel that never returns. A death signal (PR_SET_PDEATHSIG) would not serve: it is
/// sent when the thread that spawned the child ends.
class Requests {
public:
    Requests() {
        std::thread([this] { read_all(); }).detach();  // ends with the process
    }
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;

    [[nodiscard]] std::string next() {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return !lines_.empty(); });
        std::string line = std::move(lines_.front());
        lines_.pop_front();
        return line;
    }

    [[nodiscard]] bool any() {
        const std::lock_guard lock(mutex_);
        return !lines_.empty();
    }

private:
    void read_all() {
        std::array<char, 1 << 14> buffer;
        std::string text;
        while (true) {
            const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) _exit(kExitFine);  // no destructor may wait for what the main thread is stuck in
            text.append(buffer.data(), static_cast<std::size_t>(count));
            hand_over_lines(text);
        }
    }

    void hand_over_lines(std::string& text) {
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
            const std::lock_guard lock(mutex_);
            lines_.push_back(text.substr(0, end));
            text.erase(0, end + 1);
            arrived_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable arrived_;
    std::deque<std::string> lines_;
};

/// Sends lines to the parent. Other code of this process may print, so stdout becomes stderr for it.
class Replies {
public:
    Replies() : out_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
        std::fflush(stdout);
        if (!out_ || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) throw_system_error("cannot duplicate", "stdout");
    }

    void say(const WorkerReply& reply) const {
        const std::string line = to_line(reply) + '\n';
        std::string_view rest = line;
        while (!rest.empty()) {
            const ssize_t written = ::write(out_.number(), rest.data(), rest.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) _exit(kExitFine);  // nobody listens
            rest.remove_prefix(static_cast<std::size_t>(written));
        }
    }

private:
    FileDescriptor out_;
};

/// Tells the parent of each turn. A request that comes before the answer asks the worker to stop.
class SaidAloud final : public TimingObserver {
public:
    SaidAloud(Requests& requests, const Replies& replies) : requests_(requests), replies_(replies) {}
    void turn(std::size_t kernel) override { replies_.say(WorkerTurn{kernel}); }
    void sample(const TimedSample& sample) override { replies_.say(sample); }
    void round_ended(const RoundEnd& end) override { replies_.say(end); }
    [[nodiscard]] bool stopped() override { return requests_.any(); }

private:
    Requests& requests_;
    const Replies& replies_;
};

/// Answers of each kind of worker; a request that is not its own is refused.
struct CompileAnswers {
    CompileWork& work;
    Requests& requests;
    const Replies& replies;

    void operator()(const CompileJob& job) const { replies.say(work.compile(job)); }
    template <typename Other>
    void operator()(const Other&) const {
        throw Error("this worker only compiles");
    }
};

struct MeasureAnswers {
    MeasureWork& work;
    Requests& requests;
    const Replies& replies;

    void operator()(const VerifyJob& job) const { replies.say(work.verify(job)); }
    void operator()(const TimeJob& job) const {
        SaidAloud observer(requests, replies);
        replies.say(work.time(job, observer));
    }
    void operator()(const StopTiming&) const {}  // the timing has ended, perhaps by itself
    void operator()(const CompileJob&) const { throw Error("this worker only measures"); }
};

template <typename Answers, typename Make, typename Begin>
int serve(const Make& make, const Begin& begin) {
    const Replies replies;
    // Never destroyed: its thread reads on until the process ends.
    auto& requests = *new Requests;  // NOLINT(cppcoreguidelines-owning-memory)
    try {
        const auto work = make();
        begin(*work, replies);
        while (true) std::visit(Answers{*work, requests, replies}, parse_request(requests.next()));
    } catch (const CudaError& error) {
        replies.say(WorkerRefusal{error.what(), CudaFailure{error.result_name(), error.call()}});
        return kExitRefused;
    } catch (const std::exception& error) {
        replies.say(WorkerRefusal{error.what()});
        return kExitRefused;
    }
}

}  // namespace

int serve_compiling(const MakeCompileWork& make) {
    return serve<CompileAnswers>(make, [](const CompileWork&, const Replies& replies) { replies.say(WorkerHello{}); });
}

int serve_measuring(const MakeMeasureWork& make) {
    return serve<MeasureAnswers>(make, [](MeasureWork& work, const Replies& replies) {
        replies.say(WorkerHello{kWorkerProtocol, work.facts()});
        work.warm_up();
    });
}

}  // namespace jitgemm::tuning
