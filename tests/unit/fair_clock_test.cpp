#include "runtime/tuning/fair_clock.hpp"

#include "tests/catch.hpp"

using jitgemm::tuning::FairClock;
using namespace std::chrono_literals;

namespace {

constexpr FairClock::Clock::time_point kStart{100h};

}  // namespace

TEST_CASE("a fair clock stands still with nothing in flight and runs slower the more there is") {
    FairClock clock(1);
    CHECK(clock.seconds(kStart) == 0);
    clock.begin(kStart);
    CHECK(clock.seconds(kStart + 2s) == Approx(2));
    clock.begin(kStart + 2s);
    CHECK(clock.seconds(kStart + 6s) == Approx(2 + 4 / 2.0));
    clock.begin(kStart + 6s);
    clock.end(kStart + 9s);
    CHECK(clock.seconds(kStart + 9s) == Approx(4 + 3 / 3.0));
    clock.end(kStart + 11s);
    clock.end(kStart + 12s);
    CHECK(clock.seconds(kStart + 12s) == Approx(5 + 2 / 2.0 + 1));
    CHECK(clock.seconds(kStart + 1h) == Approx(7));
}

TEST_CASE("a fair clock of several devices runs no faster than real time") {
    FairClock clock(4);
    clock.begin(kStart);
    CHECK(clock.seconds(kStart + 3s) == Approx(3));
    for (int i = 0; i < 7; ++i) clock.begin(kStart + 3s);
    CHECK(clock.seconds(kStart + 5s) == Approx(3 + 2 * 4 / 8.0));
}
