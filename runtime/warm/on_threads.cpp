#include "runtime/warm/on_threads.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace jitgemm::warm {
namespace {

class SharedWork {
public:
    SharedWork(std::size_t count, const std::function<bool()>& stopped, const std::function<void(std::size_t)>& work)
        : count_(count), stopped_(stopped), work_(work) {}

    void run() noexcept {
        try {
            for (std::size_t i = next_++; i < count_ && !failed_ && !stopped_(); i = next_++) work_(i);
        } catch (...) {
            fail(std::current_exception());
        }
    }

    void rethrow() const {
        if (failure_ != nullptr) std::rethrow_exception(failure_);
    }

    void fail(std::exception_ptr failure) noexcept {
        const std::lock_guard lock(mutex_);
        if (failure_ == nullptr) failure_ = std::move(failure);
        failed_ = true;
    }

private:
    std::size_t count_;
    const std::function<bool()>& stopped_;
    const std::function<void(std::size_t)>& work_;
    std::atomic<std::size_t> next_ = 0;
    std::atomic<bool> failed_ = false;
    std::mutex mutex_;  // guards what follows
    std::exception_ptr failure_;
};

}  // namespace

void on_threads(int threads, std::size_t count, const std::function<bool()>& stopped,
                const std::function<void(std::size_t)>& work) {
    SharedWork shared(count, stopped, work);
    const std::size_t wanted = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
    std::vector<std::thread> started;
    try {
        while (started.size() < wanted) started.emplace_back([&shared] { shared.run(); });
    } catch (const std::system_error& error) {
        shared.fail(std::make_exception_ptr(
            Error(fmt::format("only {} of {} threads could be started: {}", started.size(), wanted, error.what()))));
    }
    for (std::thread& thread : started) thread.join();
    shared.rethrow();
}

}  // namespace jitgemm::warm
