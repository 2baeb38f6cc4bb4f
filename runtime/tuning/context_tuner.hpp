#pragma once

#include "runtime/device.hpp"
#include "runtime/jitgemm.hpp"
#include "runtime/tuning/records.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace jitgemm::tuning {

/// Tunes single problems for a context, one at a time, in worker processes of the tool. Thread-safe.
class ContextTuner {
public:
    /// Told how a search ended: its winner, or why there is none.
    using Ended = std::function<void(const Winner* winner, const std::string& failure)>;

    ContextTuner(const Options& options, const Device& device);
    /// Ends what is being tuned; those still waiting are told so.
    ~ContextTuner();
    ContextTuner(const ContextTuner&) = delete;
    ContextTuner& operator=(const ContextTuner&) = delete;

    /// Throws Error saying why there is no winner: no tool, nowhere to keep records, no candidate that works.
    [[nodiscard]] Winner tune(const GemmSpec& resolved_spec);
    /// The same on a thread of this object, which calls `ended` once. A problem that waits already is tuned once.
    void tune_later(const GemmSpec& resolved_spec, Ended ended);

private:
    struct Request {
        GemmSpec spec;
        std::vector<Ended> listeners;
    };
    void work();
    void serve(const Request& request);

    Options options_;
    std::string device_;    // as Options::device takes it
    std::mutex measuring_;  // one search at a time: two would disturb each other's times
    std::mutex mutex_;      // guards the queue
    std::condition_variable arrived_;
    std::deque<Request> queue_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;  // begun with the first request
};

}  // namespace jitgemm::tuning
