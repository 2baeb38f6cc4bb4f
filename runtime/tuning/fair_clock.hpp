#pragma once

#include <chrono>

namespace jitgemm::tuning {

/// A clock that shows what each of the problems in flight has had of the devices: it runs at (devices / problems in
/// flight) of the pace of real time, and never faster. What a problem may take of a budget is measured by it. Not
/// thread-safe; times may only grow from call to call.
class FairClock {
public:
    using Clock = std::chrono::steady_clock;

    explicit FairClock(double devices) : devices_(devices) {}

    void begin(Clock::time_point now);  ///< of a problem
    void end(Clock::time_point now);
    [[nodiscard]] double seconds(Clock::time_point now) const;

private:
    void advance(Clock::time_point now);

    double devices_;
    int in_flight_ = 0;
    Clock::time_point last_{};
    double seconds_ = 0;  ///< at last_
};

}  // namespace jitgemm::tuning
