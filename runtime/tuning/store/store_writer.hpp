#pragma once

#include "runtime/tuning/store/store.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace jitgemm::tuning {

/// Writes what is learnt of one problem of a sweep to the store, in the order it was learnt, while the device goes on:
/// a thread of its own waits for the disk, and what has queued up meanwhile is its next transaction (group commit). So
/// what is on disk is always a beginning of what was learnt; a kill costs the transaction on its way and those that
/// wait for it, which is what was learnt during one commit.
class StoreWriter {
public:
    StoreWriter(TuningStore& store, std::int64_t sweep, const GemmSpec& spec);
    StoreWriter(const StoreWriter&) = delete;
    StoreWriter& operator=(const StoreWriter&) = delete;
    /// Waits until all is written. What fails now goes to the log (debug): who wants to know flushes before.
    ~StoreWriter();

    /// Returns at once, unless the disk (or another process's lock on the store) has been at one transaction for longer
    /// than kLongestLag: then the device had better wait than measure what a kill would lose. Throws what failed
    /// before; nothing is written after a failure. The entries of one call are in one transaction.
    void add(const std::vector<TrialEntry>& entries);
    /// Returns when everything added is on disk; throws what failed.
    void flush();

    static constexpr std::chrono::milliseconds kLongestLag{1000};

private:
    using Clock = std::chrono::steady_clock;

    void work();
    [[nodiscard]] std::exception_ptr write(const std::vector<TrialEntry>& entries) const;
    [[nodiscard]] bool is_behind() const;
    void throw_failure() const;

    TuningStore& store_;
    std::int64_t sweep_;
    GemmSpec spec_;

    std::mutex mutex_;  // guards what follows
    std::condition_variable added_;
    std::condition_variable written_;
    std::vector<TrialEntry> queue_;
    bool is_writing_ = false;
    Clock::time_point write_began_;
    bool is_ending_ = false;
    std::exception_ptr failure_;

    std::thread thread_;  // last: begins when all else is there
};

}  // namespace jitgemm::tuning
