#include "runtime/tuning/sweep/budget_clock.hpp"

#include "tests/catch.hpp"

#include <vector>

using jitgemm::tuning::BudgetClock;
using namespace std::chrono_literals;

namespace {

constexpr BudgetClock::Clock::time_point kStart{100h};

}  // namespace

TEST_CASE("a fair clock stands still with nothing in flight and runs slower the more there is") {
    BudgetClock clock(1);
    CHECK(clock.seconds(kStart) == 0);
    const double one = clock.begin(kStart, 10);
    CHECK(one == Approx(10));
    CHECK(clock.seconds(kStart + 2s) == Approx(2));
    const double two = clock.begin(kStart + 2s, 10);
    CHECK(two == Approx(12));
    CHECK(clock.seconds(kStart + 6s) == Approx(2 + 4 / 2.0));
    const double three = clock.begin(kStart + 6s, 10);
    clock.end(kStart + 9s, two);
    CHECK(clock.seconds(kStart + 9s) == Approx(4 + 3 / 3.0));
    clock.end(kStart + 11s, one);
    clock.end(kStart + 12s, three);
    CHECK(clock.seconds(kStart + 12s) == Approx(5 + 2 / 2.0 + 1));
    CHECK(clock.seconds(kStart + 1h) == Approx(7));
}

TEST_CASE("a fair clock of several devices runs no faster than real time") {
    BudgetClock clock(4);
    static_cast<void>(clock.begin(kStart, 100));
    CHECK(clock.seconds(kStart + 3s) == Approx(3));
    for (int i = 0; i < 7; ++i) static_cast<void>(clock.begin(kStart + 3s, 100));
    CHECK(clock.seconds(kStart + 5s) == Approx(3 + 2 * 4 / 8.0));
}

TEST_CASE("shares of a budget add up to it, however many problems are in flight at once") {
    constexpr double kBudget = 60;
    constexpr int kProblems = 20;
    constexpr int kAtOnce = 7;
    BudgetClock clock(1);
    std::vector<double> in_flight;
    double now = 0;
    const auto at = [&] { return kStart + std::chrono::duration_cast<BudgetClock::Clock::duration>(now * 1s); };
    for (int begun = 0; begun < kProblems || !in_flight.empty();) {
        while (begun < kProblems && in_flight.size() < kAtOnce) {
            const double share = clock.share(at(), kBudget - now, kProblems - begun++);
            CHECK(share == Approx(kBudget / kProblems).epsilon(0.02));
            in_flight.push_back(clock.begin(at(), share));
        }
        now += 0.001;
        std::erase_if(in_flight, [&](double over) {
            if (clock.seconds(at()) < over) return false;
            clock.end(at(), over);
            return true;
        });
    }
    CHECK(now == Approx(kBudget).epsilon(0.01));
}

TEST_CASE("what a problem does not take of its share is the others'") {
    BudgetClock clock(1);
    const double one = clock.begin(kStart, clock.share(kStart, 10, 2));
    CHECK(clock.share(kStart, 10, 1) == Approx(5));
    clock.end(kStart + 1s, one);
    CHECK(clock.share(kStart + 1s, 9, 1) == Approx(9));
    CHECK(clock.share(kStart + 1s, -1, 1) == 0);
}
