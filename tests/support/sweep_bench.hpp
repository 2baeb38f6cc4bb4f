#pragma once

#include "generator/families/kernel_name.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "runtime/tuning/sweep/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/support/scripted_services.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// \file What the tests of sweeps share: problems, and devices whose times are known.

namespace jitgemm::tuning::testing {

using jitgemm::testing::ScriptedCompiling;
using jitgemm::testing::ScriptedMeasuring;
using jitgemm::testing::TemporaryFolder;

/// The predicted time, off by up to a third from kernel to kernel: a landscape with surprises.
inline double bent_model(const GemmSpec& spec, const std::string& kernel) {
    if (kernel == kCublasLt) return 0.9 * bent_model(spec, "");
    const double surprise = 1 + static_cast<double>(std::hash<std::string>()(kernel) % 1000) / 3000;
    if (kernel.empty()) return 100;
    const KernelConfig config = parse_kernel_name(kernel).config;
    return family_of(config).cost(problem_of(spec), config, find_gpu("h200")).total_us * surprise;
}

inline TuneProblem problem(std::int64_t m, std::int64_t n = 1024, std::int64_t k = 1024) {
    return {resolved({.m = m, .n = n, .k = k}), 1.0F, 0.0F};
}

/// A store and what a sweep needs besides.
struct Bench {
    TemporaryFolder folder;
    TuningStore store;
    ScriptedCompiling compiling;
    std::vector<std::unique_ptr<MeasureService>> devices;
    std::vector<ScriptedMeasuring*> scripts;
    std::function<bool()> interrupted = [] { return false; };
    std::vector<TunedProblem> finished;

    explicit Bench(int count = 1) : store(folder.path()) { add_devices(count); }
    /// As that host does in a folder that several mount.
    Bench(const std::string& shared_folder, const char* host)
        : store(shared_folder, {.location = store_location(shared_folder, 0x6969, host)}) {
        add_devices(1);
    }

    void add_devices(int count) {
        for (int i = 0; i < count; ++i) {
            auto device = std::make_unique<ScriptedMeasuring>(bent_model);
            scripts.push_back(device.get());
            devices.push_back(std::move(device));
        }
    }

    SweepResult run(const std::vector<TuneProblem>& problems, const SweepOptions& options = {}) {
        return run(problems, options, compiling);
    }
    SweepResult run(const std::vector<TuneProblem>& problems, const SweepOptions& options, CompileService& compilers) {
        return Sweep(problems, options,
                     {.compiling = compilers,
                      .devices = devices,
                      .store = store,
                      .interrupted = [this] { return interrupted(); },
                      .on_progress = {},
                      .on_problem = [this](const TunedProblem& one) { finished.push_back(one); }})
            .run();
    }

    [[nodiscard]] std::vector<ScriptedMeasuring::Turn> turns() const {
        std::vector<ScriptedMeasuring::Turn> all;
        for (const ScriptedMeasuring* script : scripts) {
            const std::vector<ScriptedMeasuring::Turn> turns = script->turns();
            all.insert(all.end(), turns.begin(), turns.end());
        }
        return all;
    }
};

inline bool each_once(const std::vector<ScriptedMeasuring::Turn>& turns) {
    return std::set<ScriptedMeasuring::Turn>(turns.begin(), turns.end()).size() == turns.size();
}

inline std::size_t samples_in(const std::vector<ProblemRecord>& problems) {
    std::size_t count = 0;
    for (const ProblemRecord& problem : problems)
        for (const Trial& trial : problem.trials) count += trial.samples.size();
    return count;
}

inline const Trial& trial_of(const ProblemRecord& record, const std::string& kernel) {
    const auto found = std::ranges::find(record.trials, kernel, &Trial::kernel);
    REQUIRE(found != record.trials.end());
    return *found;
}

}  // namespace jitgemm::tuning::testing
