#pragma once

#include "runtime/tuning/search/services.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace jitgemm::tuning {

/// A device that the searches for several problems share. Only one has it at a time, so that nothing disturbs a timed
/// kernel. They get it in the order of their requests. Thread-safe.
class SharedDevice {
public:
    explicit SharedDevice(MeasureService& device);

    [[nodiscard]] const DeviceFacts& facts() const { return facts_; }

    /// Whether a problem that holds this many bytes (bench_bytes) may begin: no other is in flight, or all together
    /// hold at most a third of the memory. If each had to make room for the next, turns would be slow.
    [[nodiscard]] bool admit(std::int64_t bytes);
    void dismiss(std::int64_t bytes);  ///< an admitted problem has ended

    /// Waits for the device, calls `use` and returns true. Returns false if `stopped` is true before; it is asked ten
    /// times per second and once more at the end. Errors of `use` pass through.
    bool lend(const std::function<bool()>& stopped, const std::function<void(MeasureService&)>& use);

    /// Seconds of verifying and timing, from request to outcome, without the start of a fresh child.
    [[nodiscard]] double busy_seconds() const;

private:
    class Place;
    class Counted;
    void add_busy(double seconds);

    MeasureService& device_;
    const DeviceFacts facts_;  // kept here, because the device's own belong to its child and change with it

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable moved_;
    std::deque<const Place*> queue_;  // the first has the device
    double busy_seconds_ = 0;
    int problems_ = 0;  // admitted
    std::int64_t bytes_ = 0;
};

}  // namespace jitgemm::tuning
