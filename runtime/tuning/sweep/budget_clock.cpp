#include "runtime/tuning/sweep/budget_clock.hpp"

#include <algorithm>

namespace jitgemm::tuning {

double BudgetClock::begin(Clock::time_point now, double seconds) {
    advance(now);
    return *over_.insert(seconds_ + seconds);
}

void BudgetClock::end(Clock::time_point now, double over) {
    advance(now);
    over_.erase(over_.find(over));
}

double BudgetClock::seconds(Clock::time_point now) const {
    if (over_.empty()) return seconds_;
    const double pace = std::min(1.0, devices_ / static_cast<double>(over_.size()));
    return seconds_ + std::chrono::duration<double>(now - last_).count() * pace;
}

double BudgetClock::share(Clock::time_point now, double left, double problems) const {
    double unpromised = left * devices_;
    for (const double over : over_) unpromised -= std::max(0.0, over - seconds(now));
    return std::clamp(unpromised / problems, 0.0, std::max(0.0, left));
}

void BudgetClock::advance(Clock::time_point now) {
    seconds_ = seconds(now);
    last_ = now;
}

}  // namespace jitgemm::tuning
