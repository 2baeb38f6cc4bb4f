#include "runtime/tuning/workers/timed_round.hpp"

#include "runtime/bench/benchmark.hpp"

namespace jitgemm::tuning {
namespace {

/// One pass through the kernels. Returns whether it counts.
bool take_turns(const TimeJob& job, int number, int repeats, const RoundDevice& device, TimingObserver& observer) {
    const DeviceReading before = device.read();
    const bool is_void = is_thrown_away(before, repeats);
    for (const std::size_t kernel : turns_of_round(number, job.kernels.size())) {
        if (observer.stopped()) break;
        observer.turn(kernel);
        Sample sample{.round = job.first_rounds.at(kernel) + number, .us = 0, .before = before, .after = {}};
        sample.us = device.microseconds(kernel);
        if (job.sustained) sample.sustained_us = device.sustained_microseconds(kernel);
        if (!is_void) observer.sample({kernel, sample});
    }
    const DeviceReading after = device.read();
    const bool counts = !is_void && !is_thrown_away(after, repeats);
    observer.round_ended({after, counts});
    return counts;
}

}  // namespace

int measure_round(const TimeJob& job, int number, const RoundDevice& device, TimingObserver& observer) {
    int thrown_away = 0;
    while (!take_turns(job, number, thrown_away, device, observer)) {
        ++thrown_away;
        if (observer.stopped()) break;
        device.rest();
    }
    return thrown_away;
}

}  // namespace jitgemm::tuning
