#include "runtime/context/background_workers.hpp"

#include "runtime/support/fork.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace jitgemm {
namespace {

constexpr unsigned kMostThreads = 4;

/// The workers of this process, so that its end can stop them. Never destroyed. Forks wait while it is locked.
struct Registry {
    std::mutex mutex;
    std::set<BackgroundWorkers*> all;
    std::atomic<unsigned> generation = 0;  ///< of the process whose workers these are
};

Registry& registry() {
    static auto* const only = new Registry;
    return *only;
}

template <typename Change>
void change_registry(Change change) {
    const ForkGuard guard;
    Registry& known = registry();
    const std::scoped_lock lock(known.mutex);
    if (known.generation.exchange(process_generation()) != process_generation()) known.all.clear();
    change(known.all);
}

/// A fork's child has no threads of its parent to wait for.
void stop_all() {
    Registry& known = registry();
    if (known.generation != process_generation()) return;
    const std::scoped_lock lock(known.mutex);
    for (BackgroundWorkers* const workers : known.all) workers->stop();
}

/// Handlers run in reverse order. The second one is for jobs that run when the compiler has been loaded: they end
/// before the compiler's own handlers run.
void stop_all_at_exit() {
    static const int kRegistered = std::atexit(stop_all);
    static_cast<void>(kRegistered);
}
void stop_all_before_the_compiler_ends() {
    static const int kRegistered = std::atexit(stop_all);
    static_cast<void>(kRegistered);
}

/// Of the calling thread alone, as Linux has it.
void lower_priority() {
    const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
    const int present = ::getpriority(PRIO_PROCESS, thread);
    static_cast<void>(::setpriority(PRIO_PROCESS, thread, present + BackgroundWorkers::kNiceness));
}

std::size_t thread_count(int most_threads) {
    if (most_threads > 0) return static_cast<std::size_t>(most_threads);
    return std::clamp(std::thread::hardware_concurrency() / 4, 1U, kMostThreads);
}

}  // namespace

// Registered without its own lock: the end of the process takes the registry's lock first.
BackgroundWorkers::BackgroundWorkers(int most_threads) : most_threads_(thread_count(most_threads)) {
    change_registry([this](auto& all) { all.insert(this); });
}

BackgroundWorkers::~BackgroundWorkers() {
    change_registry([this](auto& all) { all.erase(this); });
    stop();
}

bool BackgroundWorkers::enqueue(Job job) {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return false;
    try {
        if (idle_ <= waiting_.size() && threads_.size() < most_threads_) start_thread();
    } catch (const std::system_error&) {
        if (threads_.empty()) return false;
    }
    waiting_.push_back(std::move(job));
    arrived_.notify_one();
    return true;
}

void BackgroundWorkers::start_thread() {
    if (threads_.empty()) stop_all_at_exit();
    threads_.emplace_back([this] { work(); });
}

void BackgroundWorkers::work() {
    lower_priority();
    std::unique_lock lock(mutex_);
    for (bool is_first = true;; is_first = false) {
        ++idle_;
        arrived_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
        --idle_;
        if (stopped_) return;
        Job job = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        job();
        job = nullptr;  // what it holds goes without the lock
        if (is_first) stop_all_before_the_compiler_ends();
        lock.lock();
    }
}

std::deque<BackgroundWorkers::Job> BackgroundWorkers::drop_all() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    arrived_.notify_all();
    return std::exchange(waiting_, {});
}

void BackgroundWorkers::stop() {
    const std::deque<Job> dropped = drop_all();
    const std::scoped_lock lock(joining_);
    for (std::thread& thread : threads_)
        if (thread.joinable()) thread.join();
}

}  // namespace jitgemm
