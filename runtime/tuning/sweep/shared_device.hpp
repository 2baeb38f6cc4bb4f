#pragma once

#include "runtime/tuning/search/services.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace jitgemm::tuning {

/// A device that the searches for several problems share. One at a time has it, so that nothing runs beside a kernel
/// that is timed, and each gets it in the order in which they asked. Thread-safe.
class SharedDevice {
public:
    explicit SharedDevice(MeasureService& device);

    [[nodiscard]] const DeviceFacts& facts() const { return facts_; }

    /// Whether a problem that holds so many bytes (bench_bytes) may begin: there is no other in flight, or together
    /// they hold no more than a third of the memory. Turning from one to another would be slow if each had to make way
    /// for the next.
    [[nodiscard]] bool admit(std::int64_t bytes);
    void dismiss(std::int64_t bytes);  ///< one that was admitted has ended

    /// Waits for the device, has it used, and returns whether it was: false when `stopped`, asked ten times per second
    /// and once more at last, said so before. Throws what `use` throws.
    bool lend(const std::function<bool()>& stopped, const std::function<void(MeasureService&)>& use);

    /// Seconds that it has verified and timed: from the request to the outcome, without the start of a fresh child.
    [[nodiscard]] double busy_seconds() const;

private:
    class Place;
    class Counted;
    void add_busy(double seconds);

    MeasureService& device_;
    const DeviceFacts facts_;  // the device's own change hands with its child

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable moved_;
    std::deque<const Place*> queue_;  // the first has the device
    double busy_seconds_ = 0;
    int problems_ = 0;  // admitted
    std::int64_t bytes_ = 0;
};

}  // namespace jitgemm::tuning
