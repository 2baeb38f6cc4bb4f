#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace jitgemm {

/// Threads of low priority (Linux: a nice value kNiceness higher than that of the thread that starts them). They start
/// with the first jobs. Thread-safe.
class BackgroundWorkers {
public:
    static constexpr int kNiceness = 10;
    /// A job must not throw.
    using Job = std::function<void()>;

    /// `most_threads` of 0: a quarter of the cores, 1 to 4.
    explicit BackgroundWorkers(int most_threads);
    BackgroundWorkers(const BackgroundWorkers&) = delete;
    BackgroundWorkers& operator=(const BackgroundWorkers&) = delete;
    ~BackgroundWorkers();

    /// Jobs begin in this order. False if the workers have been stopped, or if no thread can be started.
    [[nodiscard]] bool enqueue(Job job);
    /// Drops the jobs that wait, and waits for those that run. The end of the process does the same.
    void stop();

private:
    void work();
    void start_thread();
    [[nodiscard]] std::deque<Job> drop_all();

    std::size_t most_threads_;
    std::mutex mutex_;  ///< guards the next four
    std::condition_variable arrived_;
    std::deque<Job> waiting_;
    std::size_t idle_ = 0;
    bool stopped_ = false;
    std::mutex joining_;  ///< guards the threads once stopped_ is set, else mutex_ does
    std::vector<std::thread> threads_;
};

}  // namespace jitgemm
