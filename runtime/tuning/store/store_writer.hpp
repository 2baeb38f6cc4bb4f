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

/// Writes the records of one problem of a sweep to the store in their order, while the device goes on. Its own thread
/// waits for the disk, and the records that queue up meanwhile are its next transaction (group commit). The disk
/// therefore always holds a beginning of the records. A kill loses the current transaction and the waiting records:
/// those of one commit's time.
class StoreWriter {
public:
    StoreWriter(TuningStore& store, std::int64_t sweep, const GemmSpec& spec);
    StoreWriter(const StoreWriter&) = delete;
    StoreWriter& operator=(const StoreWriter&) = delete;
    /// Waits until everything is written. An error only goes to the log (debug); a caller that needs it calls flush()
    /// first.
    ~StoreWriter();

    /// Returns at once, unless one transaction has waited for the disk (or for another process's lock) longer than
    /// kLongestLag: the device then waits, because a kill would lose too much. Throws an earlier failure; nothing is
    /// written after it. The entries of one call are in one transaction.
    void add(const std::vector<TrialEntry>& entries);
    /// Returns when everything added is on disk. Throws a failure.
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

    std::mutex mutex_;  // guards the members below
    std::condition_variable added_;
    std::condition_variable written_;
    std::vector<TrialEntry> queue_;
    bool is_writing_ = false;
    Clock::time_point write_began_;
    bool is_ending_ = false;
    std::exception_ptr failure_;

    std::thread thread_;  // last, because it begins when all other members exist
};

}  // namespace jitgemm::tuning
