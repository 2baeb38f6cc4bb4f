#include "runtime/tuning/store/store_writer.hpp"

#include "runtime/support/log.hpp"

#include <utility>

namespace jitgemm::tuning {

StoreWriter::StoreWriter(TuningStore& store, std::int64_t sweep, const GemmSpec& spec)
    : store_(store), sweep_(sweep), spec_(spec), thread_([this] { work(); }) {}

StoreWriter::~StoreWriter() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
        added_.notify_one();
    }
    thread_.join();
}

void StoreWriter::add(const std::vector<TrialEntry>& entries) {
    std::unique_lock lock(mutex_);
    written_.wait(lock, [this] { return failure_ != nullptr || !is_behind(); });
    throw_failure();
    queue_.insert(queue_.end(), entries.begin(), entries.end());
    added_.notify_one();
}

void StoreWriter::flush() {
    std::unique_lock lock(mutex_);
    written_.wait(lock, [this] { return failure_ != nullptr || (queue_.empty() && !is_writing_); });
    throw_failure();
}

bool StoreWriter::is_behind() const { return is_writing_ && Clock::now() >= write_began_ + kLongestLag; }

void StoreWriter::throw_failure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
}

// ---- the writing thread ---------------------------------------------------------------------------------------------

/// Ends when it is told to and nothing is left, or with the first failure.
void StoreWriter::work() {
    std::unique_lock lock(mutex_);
    while (failure_ == nullptr) {
        added_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
        if (queue_.empty()) return;
        const std::vector<TrialEntry> entries = std::exchange(queue_, {});
        is_writing_ = true;
        write_began_ = Clock::now();
        lock.unlock();
        std::exception_ptr failure = write(entries);
        lock.lock();
        is_writing_ = false;
        failure_ = std::move(failure);
        written_.notify_all();
    }
}

std::exception_ptr StoreWriter::write(const std::vector<TrialEntry>& entries) const {
    try {
        store_.add(sweep_, spec_, entries);
        return nullptr;
    } catch (const std::exception& error) {
        log().debug("{}", error.what());
        return std::current_exception();
    }
}

}  // namespace jitgemm::tuning
