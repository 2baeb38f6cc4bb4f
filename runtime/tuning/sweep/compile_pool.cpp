#include "runtime/tuning/sweep/compile_pool.hpp"

#include "jitgemm/error.hpp"
#include "runtime/tuning/workers/worker_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>

#include <sched.h>

namespace jitgemm::tuning {
namespace {

using namespace std::chrono_literals;

constexpr int kStarts = 3;      // of a worker; a machine short of processes may have one a moment later
constexpr auto kPause = 500ms;  // between two
constexpr int kTries = 2;       // of a job whose worker ends by no fault of the job's

struct QueuedJob {
    CompileJob job;
    std::promise<CompileOutcome> promise;
};

std::string job_key(const CompileJob& job) {
    return fmt::format("{} {} {}", job.kernel, job.arch, job.ptx ? "ptx" : "cubin");
}

CompileOutcome outcome(Verdict verdict, std::string message) {
    CompileOutcome outcome;
    outcome.verdict = verdict;
    outcome.message = std::move(message);
    return outcome;
}

}  // namespace

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

struct CompilePool::Impl {
    explicit Impl(const CompilePoolOptions& given) : options(given) {}
    ~Impl();

    void begin();
    void work(std::unique_ptr<WorkerProcess> worker);
    [[nodiscard]] std::unique_ptr<QueuedJob> next_job();
    void start(std::unique_ptr<WorkerProcess>& worker) const;
    [[nodiscard]] CompileOutcome compile(std::unique_ptr<WorkerProcess>& worker, const CompileJob& job);
    [[nodiscard]] std::variant<CompileOutcome, WorkerEnd> answer(WorkerProcess& worker) const;
    [[nodiscard]] CompileOutcome outcome_of(const WorkerEnd& end) const;
    [[nodiscard]] bool is_closing() const {
        const std::lock_guard lock(mutex);
        return closing;
    }

    CompilePoolOptions options;
    mutable std::mutex mutex;  // guards what follows
    std::condition_variable arrived;
    std::deque<std::unique_ptr<QueuedJob>> queue;
    std::unordered_map<std::string, std::shared_future<CompileOutcome>> known;
    int unfinished = 0;
    bool closing = false;
    std::vector<std::thread> threads;
};

/// Not the constructor: where a thread is refused, the destructor ends those before it.
void CompilePool::Impl::begin() {
    auto first = std::make_unique<WorkerProcess>(compile_worker_words(options.command));
    const int count = options.workers > 0 ? options.workers : usable_cores();
    try {
        threads.emplace_back([this, worker = std::move(first)]() mutable { work(std::move(worker)); });
        for (int i = 1; i < count; ++i) threads.emplace_back([this] { work(nullptr); });
    } catch (const std::system_error& error) {
        throw Error(
            fmt::format("only {} of {} compile workers could be started: {}", threads.size(), count, error.what()));
    }
}

CompilePool::Impl::~Impl() {
    {
        const std::lock_guard lock(mutex);
        closing = true;
    }
    arrived.notify_all();
    for (std::thread& thread : threads) thread.join();
    for (const std::unique_ptr<QueuedJob>& job : queue)
        job->promise.set_value(outcome(Verdict::compile_failed, "not compiled: the compile pool was closed"));
}

/// Waits for one; null when the pool is closing.
std::unique_ptr<QueuedJob> CompilePool::Impl::next_job() {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [this] { return closing || !queue.empty(); });
    if (closing) return nullptr;
    std::unique_ptr<QueuedJob> job = std::move(queue.front());
    queue.pop_front();
    return job;
}

/// One thread and one worker process, which is started with the first job and again after each that was its last.
void CompilePool::Impl::work(std::unique_ptr<WorkerProcess> worker) {
    while (const std::unique_ptr<QueuedJob> job = next_job()) {
        std::exception_ptr failure;
        CompileOutcome result;
        try {
            result = compile(worker, job->job);
        } catch (...) {
            worker.reset();
            failure = std::current_exception();
        }
        {
            const std::lock_guard lock(mutex);
            --unfinished;
        }
        if (failure)
            job->promise.set_exception(failure);
        else
            job->promise.set_value(std::move(result));
    }
}

/// Throws Error when there is none to be had: no kernel's fault, so no kernel's outcome.
void CompilePool::Impl::start(std::unique_ptr<WorkerProcess>& worker) const {
    for (int attempt = 1; worker == nullptr; ++attempt) {
        try {
            worker = std::make_unique<WorkerProcess>(compile_worker_words(options.command));
        } catch (const std::exception& error) {
            if (attempt == kStarts || is_closing()) throw Error(fmt::format("no compile worker: {}", error.what()));
            std::this_thread::sleep_for(kPause);
        }
    }
}

CompileOutcome CompilePool::Impl::compile(std::unique_ptr<WorkerProcess>& worker, const CompileJob& job) {
    for (int attempt = 1;; ++attempt) {
        start(worker);
        worker->send(job);
        const std::variant<CompileOutcome, WorkerEnd> answered = answer(*worker);
        if (const auto* done = std::get_if<CompileOutcome>(&answered)) return *done;
        worker.reset();
        const WorkerEnd& end = std::get<WorkerEnd>(answered);
        if (!end.tells_nothing || attempt == kTries || is_closing()) return outcome_of(end);
    }
}

std::variant<CompileOutcome, WorkerEnd> CompilePool::Impl::answer(WorkerProcess& worker) const {
    Patience patience(options.timeout);
    while (!patience.is_over() && !is_closing()) {
        const auto reply = worker.receive_until(patience.next_look());
        patience.looked();
        if (!reply) continue;
        if (const auto* end = std::get_if<WorkerEnd>(&*reply)) return *end;
        if (const auto* done = std::get_if<CompileOutcome>(&std::get<WorkerReply>(*reply))) return *done;
        return worker.kill(false, "the process gave an unexpected answer");
    }
    return worker.kill(
        true, fmt::format("did not compile within {:.3g} s", std::chrono::duration<double>(options.timeout).count()));
}

CompileOutcome CompilePool::Impl::outcome_of(const WorkerEnd& end) const {
    if (is_closing()) return outcome(Verdict::compile_failed, "not compiled: the compile pool was closed");
    if (end.tells_nothing) return outcome(Verdict::no_memory, end.message);
    return outcome(end.timed_out ? Verdict::compile_timeout : Verdict::compile_failed, end.message);
}

CompilePool::CompilePool(const CompilePoolOptions& options) : impl_(std::make_unique<Impl>(options)) { impl_->begin(); }

CompilePool::~CompilePool() = default;

std::shared_future<CompileOutcome> CompilePool::compile(const CompileJob& job) {
    const std::lock_guard lock(impl_->mutex);
    const auto [position, is_new] = impl_->known.try_emplace(job_key(job));
    if (!is_new) return position->second;
    auto queued = std::make_unique<QueuedJob>(QueuedJob{job, {}});
    position->second = queued->promise.get_future().share();
    impl_->queue.push_back(std::move(queued));
    ++impl_->unfinished;
    impl_->arrived.notify_one();
    return position->second;
}

int CompilePool::waiting() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->unfinished;
}

}  // namespace jitgemm::tuning
