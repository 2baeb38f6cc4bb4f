#include "python/src/interruptible.hpp"

#include "runtime/context/context_state.hpp"
#include "runtime/emulator_device/emulator_device.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace jitgemm::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

/// Set once, waited for by many.
class Event {
public:
    void set() {
        const std::scoped_lock lock(mutex_);
        is_set_ = true;
        changed_.notify_all();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_set_; });
    }
    [[nodiscard]] bool wait_for(std::chrono::milliseconds most) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, most, [&] { return is_set_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_set_ = false;
};

/// False, with the exception set, where a signal's handler raised before the event came.
bool wait_unless_interrupted(Event& event) {
    while (true) {
        {
            const WithoutGil released;
            if (event.wait_for(kBetweenLooks)) return true;
        }
        if (PyErr_CheckSignals() != 0) return false;
    }
}

/// Threads that nobody may be waiting for when the process ends: the caller was interrupted, or is a thread that the
/// interpreter left behind. A fork has none of its parent's.
struct Workers {
    std::mutex mutex;
    std::condition_variable ended;
    int running = 0;
    std::vector<std::atomic<bool>*> stops;  ///< of launches
};

Workers*& workers() {
    static auto* current = new Workers;
    return current;
}

/// One more of them, while it lives.
class Running {
public:
    explicit Running(std::atomic<bool>* stop = nullptr) : all_(*workers()), stop_(stop) {
        const std::scoped_lock lock(all_.mutex);
        if (stop_ != nullptr) all_.stops.push_back(stop_);
        ++all_.running;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
        const std::scoped_lock lock(all_.mutex);
        std::erase(all_.stops, stop_);
        --all_.running;
        all_.ended.notify_all();
    }

private:
    Workers& all_;
    std::atomic<bool>* stop_;
};

/// Compilers can't be stopped.
void end_workers() {
    Workers& all = *workers();
    std::unique_lock lock(all.mutex);
    for (std::atomic<bool>* const stop : all.stops) *stop = true;
    all.ended.wait(lock, [&] { return all.running == 0; });
}

/// A kernel that is being made, shared by the thread that makes it and the one that waits.
struct Making {
    Event done;
    std::exception_ptr failure;
};

void make(Making& making, Session& session, const std::function<void(Session&)>& work) {
    try {
        work(session);
    } catch (...) {
        making.failure = std::current_exception();
    }
}

/// `work` goes on when this has thrown: what it writes to must be its own.
void make_interruptibly(const std::shared_ptr<Session>& session, std::function<void(Session&)> work) {
    const auto making = std::make_shared<Making>();
    std::thread([running = std::make_unique<Running>(), making = making, session = session,
                 work = std::move(work)]() mutable {
        make(*making, *session, work);
        making->done.set();
        work = nullptr;
        session.reset();
        making.reset();
        running.reset();
    }).detach();
    if (!wait_unless_interrupted(making->done)) throw PythonError{};
    if (making->failure) std::rethrow_exception(making->failure);
}

}  // namespace

void launch_interruptibly(const std::function<void()>& launch) {
    std::atomic<bool> stop{false};
    Event done;
    std::exception_ptr failure;
    std::thread worker([&, running = std::make_unique<Running>(&stop)] {
        const StopFlagScope scope(stop);
        try {
            launch();
        } catch (...) {
            failure = std::current_exception();
        }
        done.set();
    });
    const bool interrupted = !wait_unless_interrupted(done);
    stop = interrupted;
    {
        const WithoutGil released;
        worker.join();
    }
    if (interrupted) throw PythonError{};
    if (failure) std::rethrow_exception(failure);
}

GemmKernel kernel_interruptibly(const std::shared_ptr<Session>& session, const GemmSpec& spec,
                                std::optional<OnMiss> given) {
    const OnMiss on_miss = given.value_or(state_of(session->context).options.on_miss);
    if (on_miss == OnMiss::fail) {  // compiles nothing
        const WithoutGil released;
        return session->context.kernel(spec, {.on_miss = on_miss});
    }
    const auto kernel = std::make_shared<GemmKernel>();
    make_interruptibly(session, [=](Session& of) { *kernel = of.context.kernel(spec, {.on_miss = on_miss}); });
    return *kernel;
}

GemmKernelSet kernels_interruptibly(const std::shared_ptr<Session>& session, const GemmSpec& spec, std::int64_t first_m,
                                    std::int64_t last_m) {
    const auto set = std::make_shared<GemmKernelSet>();
    make_interruptibly(session, [=](Session& of) { *set = of.context.kernels(spec, first_m, last_m); });
    return *set;
}

void watch_exit() {
    static_cast<void>(workers());
    if (Py_AtExit(end_workers) != 0) throw std::bad_alloc();
    if (pthread_atfork(nullptr, nullptr, [] { workers() = new Workers; }) != 0) throw std::bad_alloc();
}

}  // namespace jitgemm::python
