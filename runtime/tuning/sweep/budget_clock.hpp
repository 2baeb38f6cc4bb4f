#pragma once

#include <chrono>
#include <set>

namespace jitgemm::tuning {

/// A clock that shows what each of the problems in flight has had of the devices: it runs at (devices / problems in
/// flight) of the pace of real time, and never faster. What a problem may take of a budget is measured by it. Not
/// thread-safe; times may only grow from call to call.
class BudgetClock {
public:
    using Clock = std::chrono::steady_clock;

    explicit BudgetClock(double devices) : devices_(devices) {}

    /// A problem begins that may take so many seconds by this clock; returns what it shows when they are over.
    [[nodiscard]] double begin(Clock::time_point now, double seconds);
    void end(Clock::time_point now, double over);  ///< of the problem that begin() returned this for

    [[nodiscard]] double seconds(Clock::time_point now) const;
    /// The share of each of `problems` that have not begun, when the devices have `left` seconds of real time yet and
    /// those in flight take all that they may. Never more than `left`, nor less than 0.
    [[nodiscard]] double share(Clock::time_point now, double left, double problems) const;

private:
    void advance(Clock::time_point now);

    double devices_;
    std::multiset<double> over_;  // of the problems in flight
    Clock::time_point last_{};
    double seconds_ = 0;  ///< at last_
};

}  // namespace jitgemm::tuning
