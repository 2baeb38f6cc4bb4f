#include "runtime/tuning/fair_clock.hpp"

#include <algorithm>

namespace jitgemm::tuning {

void FairClock::begin(Clock::time_point now) {
    advance(now);
    ++in_flight_;
}

void FairClock::end(Clock::time_point now) {
    advance(now);
    --in_flight_;
}

double FairClock::seconds(Clock::time_point now) const {
    if (in_flight_ == 0) return seconds_;
    return seconds_ + std::chrono::duration<double>(now - last_).count() * std::min(1.0, devices_ / in_flight_);
}

void FairClock::advance(Clock::time_point now) {
    seconds_ = seconds(now);
    last_ = now;
}

}  // namespace jitgemm::tuning
