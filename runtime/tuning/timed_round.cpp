#include "runtime/tuning/timed_round.hpp"

#include "runtime/benchmark.hpp"
#include "runtime/tuning/round_policy.hpp"

namespace jitgemm::tuning {

int measure_round(const TimeJob& job, int number, const RoundDevice& device, TimingObserver& observer) {
    const auto measure = [&] {
        std::vector<double> us(job.kernels.size());
        for (const std::size_t turn : turns_of_round(number, us.size())) {
            observer.turn(turn);
            us[turn] = device.microseconds(turn);
        }
        return us;
    };
    const Round round = unspoilt_round(device.read, measure, device.rest);
    for (std::size_t i = 0; i < round.us.size(); ++i)
        observer.sample({i, {job.first_rounds.at(i) + number, round.us[i], round.before, round.after}});
    return round.thrown_away;
}

}  // namespace jitgemm::tuning
