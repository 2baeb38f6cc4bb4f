#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/options.hpp"
#include "runtime/context/tuner.hpp"
#include "runtime/device/device.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

namespace jitgemm::tuning {

/// Tunes one problem at a time, in worker processes of the tool. A request that waits while its problem is searched to
/// the end takes that search's winner.
class ContextTuner final : public Tuner {
public:
    ContextTuner(const Options& options, const Device& device);
    ~ContextTuner() override;
    ContextTuner(const ContextTuner&) = delete;
    ContextTuner& operator=(const ContextTuner&) = delete;

    [[nodiscard]] Winner tune(const GemmSpec& resolved_spec) override;
    void tune_later(const GemmSpec& resolved_spec, Ended ended) override;

private:
    struct Request {
        GemmSpec spec;
        std::vector<Ended> listeners;
    };
    void enqueue(const GemmSpec& resolved_spec, const Ended& ended);
    [[nodiscard]] Winner search(const GemmSpec& resolved_spec);
    void work();
    void serve(const Request& request);

    Options options_;
    std::string device_;                             // in the form of Options::device
    std::mutex measuring_;                           // one search at a time: two would disturb each other's times
    std::unordered_map<GemmSpec, Winner> finished_;  // of finished searches; guarded by measuring_
    std::mutex mutex_;                               // guards the queue
    std::condition_variable arrived_;
    std::deque<Request> queue_;
    std::atomic<bool> stop_ = false;
    std::thread thread_;  // started by the first request
};

}  // namespace jitgemm::tuning
