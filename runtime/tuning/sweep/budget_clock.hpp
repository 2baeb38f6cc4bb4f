#pragma once

#include <chrono>
#include <set>

namespace jitgemm::tuning {

/// A clock for the part of the devices' time that each problem in flight has had. It runs at (devices / problems in
/// flight) of real time, and never faster. A problem's share of a budget is measured by it. Not thread-safe; times may
/// only grow from call to call.
class BudgetClock {
public:
    using Clock = std::chrono::steady_clock;

    explicit BudgetClock(double devices) : devices_(devices) {}

    /// A problem begins that may take this many seconds by this clock. Returns the clock's time at their end.
    [[nodiscard]] double begin(Clock::time_point now, double seconds);
    void end(Clock::time_point now, double over);  ///< for the problem whose begin() returned `over`

    [[nodiscard]] double seconds(Clock::time_point now) const;
    /// The share of each of `problems` that have not begun, if the devices have `left` seconds of real time and those
    /// in flight take their full shares. It is between 0 and `left`.
    [[nodiscard]] double share(Clock::time_point now, double left, double problems) const;

private:
    void advance(Clock::time_point now);

    double devices_;
    std::multiset<double> over_;  // of the problems in flight
    Clock::time_point last_{};
    double seconds_ = 0;  ///< at last_
};

}  // namespace jitgemm::tuning
