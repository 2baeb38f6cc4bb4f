#pragma once

#include "generator/arch.hpp"
#include "runtime/tuning/services.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// \file Services of a sweep that do as they are told, in the process itself: no compiler, no device, no time that passes.

namespace jitgemm::testing {

/// Compiles at once; every kernel has code of its own unless `outcomes` says otherwise.
class ScriptedCompiling final : public tuning::Compiling {
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

/// A device whose times are `truth`, every round the same, and which fails as `faults` says.
class ScriptedMeasuring final : public tuning::Measuring {
public:
    using Turn = std::pair<std::string, int>;  // problem and kernel, round

    explicit ScriptedMeasuring(std::function<double(const GemmSpec&, const std::string&)> time)
        : truth(std::move(time)) {
        known.model = find_gpu("h200");
        known.versions.jitgemm = "1";
    }

    [[nodiscard]] const tuning::DeviceFacts& facts() const override { return known; }

    [[nodiscard]] tuning::VerifyOutcome verify(const tuning::VerifyJob& job) override {
        ++verified[job.kernel];
        const auto fault = faults.find(job.kernel);
        if (fault == faults.end()) return {};
        return {fault->second, "as scripted"};
    }

    [[nodiscard]] tuning::TimeOutcome time(const tuning::TimeJob& job,
                                           const std::function<void(const tuning::TimedSample&)>& sink) override {
        for (int round = 0; round < job.rounds; ++round) {
            for (std::size_t i = 0; i < job.kernels.size(); ++i) {
                if (late_faults.contains(job.kernels[i])) return {late_faults.at(job.kernels[i]), i, "as scripted", 0};
                if (before_turn) before_turn();
                const int number = job.first_rounds.at(i) + round;
                turns.emplace_back(to_string(job.spec) + ' ' + job.kernels[i], number);
                tuning::TimedSample timed;
                timed.kernel = i;
                timed.sample.round = number;
                timed.sample.us = truth(job.spec, job.kernels[i]);
                sink(timed);
            }
        }
        return {};
    }

    tuning::DeviceFacts known;
    std::function<double(const GemmSpec&, const std::string&)> truth;
    std::map<std::string, tuning::Verdict> faults;       ///< found by verifying
    std::map<std::string, tuning::Verdict> late_faults;  ///< struck while timing
    std::function<void()> before_turn;
    std::map<std::string, int> verified;  ///< how often
    std::vector<Turn> turns;              ///< all that was timed, in order
};

}  // namespace jitgemm::testing
