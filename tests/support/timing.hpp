#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

/// \file Bounds on times that hold on a busy machine, too: other work makes a thing slow, and nothing makes it fast.

namespace jitgemm::testing {

struct TimedRounds {
    int rounds = 20;
    int calls = 200;                       ///< of a kind in a round
    std::function<void()> idle = [] {};    ///< before each run: waits for what the last one left behind
    std::chrono::milliseconds pause{300};  ///< before rounds are added, a longer one each time
    static constexpr int kMostAttempts = 6;
};

/// Microseconds of one call of each kind: the fastest of many short runs. The kinds take turns, so that clocks and the
/// machine's other work are the same for all. More rounds are added while `holds` is false of the times, for some
/// seconds at most.
template <typename Holds>
std::vector<double> fastest_us(const std::vector<std::function<void()>>& kinds, const TimedRounds& timed,
                               const Holds& holds) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> best(kinds.size(), std::numeric_limits<double>::infinity());
    for (int attempt = 0; attempt < TimedRounds::kMostAttempts; ++attempt) {
        if (attempt > 0) std::this_thread::sleep_for(attempt * timed.pause);
        for (int round = 0; round < timed.rounds; ++round) {
            for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
                timed.idle();
                const auto begin = Clock::now();
                for (int i = 0; i < timed.calls; ++i) kinds[kind]();
                const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
                best[kind] = std::min(best[kind], took.count() / timed.calls);
            }
        }
        timed.idle();
        if (holds(best)) break;
    }
    return best;
}

/// Seconds that this process and its threads have computed: the machine's other work hardly counts.
inline double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace jitgemm::testing
