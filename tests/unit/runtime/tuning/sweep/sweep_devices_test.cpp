/// Sweeps of several problems or devices at once.

#include "runtime/tuning/sweep/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/support/sweep_bench.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace jitgemm::tuning::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Compiles at once, but kernels with `held` in their name only when it is told to let go.
class HeldCompiling final : public CompileService {
public:
    explicit HeldCompiling(std::string held) : held_(std::move(held)) {}
    [[nodiscard]] std::shared_future<CompileOutcome> compile(const CompileJob& job) override {
        const std::lock_guard lock(mutex_);
        const auto [job_at, is_new] = jobs_.try_emplace(job.kernel);
        if (is_new && (let_go_ || job.kernel.find(held_) == std::string::npos)) finish(*job_at);
        return job_at->second.future;
    }
    [[nodiscard]] int waiting() const override { return 0; }
    void let_go() {
        const std::lock_guard lock(mutex_);
        if (std::exchange(let_go_, true)) return;
        for (auto& job : jobs_)
            if (job.first.find(held_) != std::string::npos) finish(job);
    }

private:
    struct Job {
        std::promise<CompileOutcome> promise;
        std::shared_future<CompileOutcome> future = promise.get_future().share();
    };
    static void finish(std::pair<const std::string, Job>& job) {
        CompileOutcome own;
        own.text_hash = job.first;
        job.second.promise.set_value(own);
    }

    std::string held_;
    std::mutex mutex_;
    std::map<std::string, Job> jobs_;
    bool let_go_ = false;
};

}  // namespace

TEST_CASE("a problem takes the steps it takes alone, whatever is in flight beside it", "[threads]") {
    std::vector<TuneProblem> asked;
    for (int i = 1; i <= 6; ++i) asked.push_back(problem(384 * i, 640));
    Bench together;
    const SweepResult result = together.run(asked);
    REQUIRE(result.problems.size() == asked.size());
    std::set<ScriptedMeasuring::Turn> turns_alone;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        Bench bench;
        const SweepResult alone = bench.run({asked[i]});
        const std::vector<Trial>& trials = result.problems[i].record.trials;
        CHECK(std::ranges::equal(trials, alone.problems.at(0).record.trials, {}, &Trial::kernel, &Trial::kernel));
        CHECK(result.problems[i].record.winner->kernel == alone.problems[0].record.winner->kernel);
        for (const ScriptedMeasuring::Turn& turn : bench.turns()) turns_alone.insert(turn);
    }
    const std::vector<ScriptedMeasuring::Turn> turns = together.turns();
    CHECK(each_once(turns));
    CHECK(std::set<ScriptedMeasuring::Turn>(turns.begin(), turns.end()) == turns_alone);
}

TEST_CASE("while a problem waits for its compiles another is measured", "[threads]") {
    TuneProblem late = problem(1024);
    late.spec = resolved({.m = 1024, .n = 1024, .k = 1024, .a = DataType::f16, .b = DataType::f16, .d = DataType::f16});
    Bench bench;
    HeldCompiling compiling("_f16_");
    bench.scripts[0]->before_turn = [&] { compiling.let_go(); };
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    bench.interrupted = [patience] { return std::chrono::steady_clock::now() > patience; };
    const SweepResult result = bench.run({late, problem(1024)}, {}, compiling);
    CHECK(result.stop == Stop::none);
    REQUIRE(result.problems.size() == 2);
    for (const TunedProblem& one : result.problems) CHECK(one.record.winner.has_value());
    CHECK_THAT(bench.turns().front().first, ContainsSubstring("bf16"));
    CHECK(result.problems[0].record.spec == late.spec);  // as asked, whoever was first
}

TEST_CASE("rounds that a slowdown spoilt are repeated and count once", "[threads]") {
    const std::vector<TuneProblem> asked{problem(1024)};
    Bench calm;
    const SweepResult expected = calm.run(asked);
    Bench bench;
    bench.scripts[0]->before_turn = [&] {
        if (bench.turns().size() == 3) bench.scripts[0]->spoilt_rounds = 2;  // the first two rounds of eight kernels
    };
    const SweepResult result = bench.run(asked);
    CHECK(bench.turns().size() == calm.turns().size() + 2 * 8);
    CHECK(result.problems.at(0).new_samples == expected.problems.at(0).new_samples);
    CHECK(result.problems[0].record.winner->kernel == expected.problems[0].record.winner->kernel);
    const std::vector<ProblemRecord> stored = bench.store.read_sweep(1);
    CHECK(samples_in(stored) == calm.turns().size());
    for (const Trial& trial : stored.at(0).trials)
        for (std::size_t i = 0; i < trial.samples.size(); ++i) CHECK(trial.samples[i].round == static_cast<int>(i));
}

TEST_CASE("devices of one class share the problems, those of another do all of them", "[threads]") {
    Bench bench(3);
    bench.scripts[2]->known.model.sm_count = 78;
    std::vector<TuneProblem> asked;
    for (int i = 1; i <= 4; ++i) asked.push_back(problem(512 * i));
    const SweepResult result = bench.run(asked);
    CHECK(result.problems.size() == 8);
    CHECK(bench.store.winners(device_class(bench.scripts[0]->known)).size() == 4);
    CHECK(bench.store.winners(device_class(bench.scripts[2]->known)).size() == 4);
    CHECK(bench.finished.size() == 8);
    CHECK(result.stop == Stop::none);
}

TEST_CASE("a problem that ends with an error leaves its room on the device to the next", "[threads]") {
    Bench bench;
    bench.scripts[0]->known.memory_bytes = 1;  // room for one at a time
    bool failed = false;
    bench.scripts[0]->before_turn = [&failed] {
        if (!std::exchange(failed, true)) throw std::runtime_error("fell off the bus");
    };
    CHECK_THROWS_WITH(bench.run({problem(1024), problem(1088), problem(1152)}), ContainsSubstring("off the bus"));
    CHECK(bench.finished.size() == 2);
    const SweepResult result = bench.run({problem(1024), problem(1088), problem(1152)});
    CHECK(result.resumed);
    CHECK(result.stop == Stop::none);
}
