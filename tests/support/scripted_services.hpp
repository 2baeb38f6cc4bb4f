#pragma once

#include "generator/base/arch.hpp"
#include "runtime/tuning/search/services.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// \file Services of a sweep that do as they are told, in the process itself: no compiler, no device, no time that
/// passes.

namespace jitgemm::testing {

/// Compiles at once; every kernel has code of its own unless `outcomes` says otherwise.
class ScriptedCompiling final : public tuning::CompileService {
public:
    [[nodiscard]] std::shared_future<tuning::CompileOutcome> compile(const tuning::CompileJob& job) override {
        const std::lock_guard lock(mutex);
        asked.insert(job.kernel);
        std::promise<tuning::CompileOutcome> promise;
        const auto known = outcomes.find(job.kernel);
        tuning::CompileOutcome own;
        own.text_hash = job.kernel;
        promise.set_value(known == outcomes.end() ? own : known->second);
        return promise.get_future().share();
    }
    [[nodiscard]] int waiting() const override { return 0; }

    std::map<std::string, tuning::CompileOutcome> outcomes;
    std::set<std::string> asked;
    std::mutex mutex;
};

/// A device whose times are `truth`, every round the same unless there is noise, and which fails as `faults` says. One
/// thread at a time uses it; which of them does may change.
class ScriptedMeasuring final : public tuning::MeasureService {
public:
    using Turn = std::pair<std::string, int>;  // problem and kernel, round

    explicit ScriptedMeasuring(std::function<double(const GemmSpec&, const std::string&)> time)
        : truth(std::move(time)) {
        known.model = find_gpu("h200");
        known.memory_bytes = std::size_t{141} << 30U;
        known.versions.jitgemm = "1";
    }

    [[nodiscard]] const tuning::DeviceFacts& facts() const override { return known; }

    [[nodiscard]] tuning::VerifyOutcome verify(const tuning::VerifyJob& job) override {
        ++verified[job.kernel];
        const auto fault = faults.find(job.kernel);
        if (fault == faults.end()) return {};
        return {fault->second, "as scripted"};
    }

    [[nodiscard]] tuning::TimeOutcome time(const tuning::TimeJob& job, const tuning::TimingEvents& events) override {
        group_draws.emplace(job.group_sizes, job.seed);
        for (int round = 0; round < job.rounds && !events.stopped();) {
            for (std::size_t i = 0; i < job.kernels.size() && !events.stopped(); ++i) {
                if (late_faults.contains(job.kernels[i])) return {late_faults.at(job.kernels[i]), i, "as scripted", 0};
                events.on_sample(take_turn(job, i, round));
            }
            tuning::RoundEnd end;
            end.after.power_watts = 500;
            end.counts = spoilt_rounds == 0;
            if (!end.counts) --spoilt_rounds;
            events.on_round_end(end);
            round += end.counts ? 1 : 0;
        }
        return {};
    }

    tuning::DeviceFacts known;
    std::function<double(const GemmSpec&, const std::string&)> truth;
    std::function<double(const std::string& kernel, int round)> noise;  ///< a factor of the time; none unless set
    std::function<double(const std::string& kernel)> alone;  ///< a factor of the time by the sustained protocol
    std::map<std::string, tuning::Verdict> faults;           ///< found by verifying
    std::map<std::string, tuning::Verdict> late_faults;      ///< struck while timing
    std::function<void()> before_turn;
    std::map<std::string, int> verified;                         ///< how often
    int spoilt_rounds = 0;                                       ///< the first rounds that do not count
    std::set<std::pair<GroupSizes, std::uint64_t>> group_draws;  ///< sizes of groups that were timed, and seeds

    /// All that was timed, in order. Any thread may ask.
    [[nodiscard]] std::vector<Turn> turns() const {
        const std::lock_guard lock(mutex_);
        return turns_;
    }

private:
    [[nodiscard]] tuning::TimedSample take_turn(const tuning::TimeJob& job, std::size_t kernel, int round) {
        if (before_turn) before_turn();
        tuning::TimedSample timed;
        timed.kernel = kernel;
        timed.sample.round = job.first_rounds.at(kernel) + round;
        timed.sample.us = truth(job.spec, job.kernels[kernel]);
        if (noise) timed.sample.us *= noise(job.kernels[kernel], timed.sample.round);
        if (job.sustained) timed.sample.sustained_us = timed.sample.us * (alone ? alone(job.kernels[kernel]) : 1.0);
        const std::lock_guard lock(mutex_);
        turns_.emplace_back(to_string(job.spec) + ' ' + job.kernels[kernel], timed.sample.round);
        return timed;
    }

    mutable std::mutex mutex_;
    std::vector<Turn> turns_;
};

}  // namespace jitgemm::testing
