#include "runtime/tuning/sweep/sweep.hpp"
#include "generator/families/kernel_name.hpp"

#include "runtime/tuning/store/lookup.hpp"
#include "tests/catch.hpp"
#include "tests/support/scripted_services.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/timing.hpp"
#include "tests/support/without_locks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <stdexcept>

using namespace jitgemm;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::ScriptedCompiling;
using jitgemm::testing::ScriptedMeasuring;
using jitgemm::testing::TemporaryFolder;
using jitgemm::testing::WithoutLocks;

namespace {

/// The predicted time, off by up to a third from kernel to kernel: a landscape with surprises.
double bent_model(const GemmSpec& spec, const std::string& kernel) {
    if (kernel == kCublasLt) return 0.9 * bent_model(spec, "");
    const double surprise = 1 + static_cast<double>(std::hash<std::string>()(kernel) % 1000) / 3000;
    if (kernel.empty()) return 100;
    const KernelConfig config = parse_kernel_name(kernel).config;
    return family_of(config).cost(problem_of(spec), config, find_gpu("h200")).total_us * surprise;
}

TuneProblem problem(std::int64_t m, std::int64_t n = 1024, std::int64_t k = 1024) {
    return {resolved({.m = m, .n = n, .k = k}), 1.0F, 0.0F};
}

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

/// Compiles the first few at once and never another one. Over when somebody waits for that.
class FewCompiling final : public CompileService {
public:
    explicit FewCompiling(std::size_t count) : count_(count) {}
    [[nodiscard]] std::shared_future<CompileOutcome> compile(const CompileJob& job) override {
        const std::lock_guard lock(mutex_);
        const auto [job_at, is_new] = jobs_.try_emplace(job.kernel);
        Job& own = job_at->second;
        if (is_new && jobs_.size() <= count_) {
            CompileOutcome outcome;
            outcome.text_hash = job.kernel;
            own.promise.set_value(outcome);
        }
        const bool is_held = own.future.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
        if (is_held && !is_new) ++waits_;
        return own.future;
    }
    [[nodiscard]] int waiting() const override { return 0; }
    [[nodiscard]] bool is_over() const { return waits_ >= 2; }

private:
    struct Job {
        std::promise<CompileOutcome> promise;
        std::shared_future<CompileOutcome> future = promise.get_future().share();
    };
    std::size_t count_;
    std::mutex mutex_;
    std::map<std::string, Job> jobs_;
    std::atomic<int> waits_ = 0;
};

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

bool each_once(const std::vector<ScriptedMeasuring::Turn>& turns) {
    return std::set<ScriptedMeasuring::Turn>(turns.begin(), turns.end()).size() == turns.size();
}

std::size_t samples_in(const std::vector<ProblemRecord>& problems) {
    std::size_t count = 0;
    for (const ProblemRecord& problem : problems)
        for (const Trial& trial : problem.trials) count += trial.samples.size();
    return count;
}

const Trial& trial_of(const ProblemRecord& record, const std::string& kernel) {
    const auto found = std::ranges::find(record.trials, kernel, &Trial::kernel);
    REQUIRE(found != record.trials.end());
    return *found;
}

}  // namespace

TEST_CASE("a sweep finds the fastest kernel, measures each round once and stores the winner") {
    Bench bench;
    SweepOptions options;
    options.strategy = StrategyKind::exhaustive;
    const TuneProblem asked = problem(1024);
    const SweepResult result = bench.run({asked}, options);
    REQUIRE(result.problems.size() == 1);
    REQUIRE(result.problems[0].record.winner);
    const Winner& winner = *result.problems[0].record.winner;

    double best = 1e30;
    for (const std::string& kernel : search_space(problem_of(asked.spec), find_gpu("h200"), {}).kernels)
        best = std::min(best, bent_model(asked.spec, kernel));
    CHECK(winner.median_us <= 1.01 * best);
    CHECK(winner.median_us >= best);
    CHECK(winner.complete);
    CHECK(winner.heuristic_us == Approx(bent_model(asked.spec, winner.heuristic_kernel)));
    CHECK(winner.cublaslt_us == Approx(bent_model(asked.spec, std::string(kCublasLt))));
    CHECK(each_once(bench.turns()));

    const std::vector<Winner> stored = bench.store.winners();
    REQUIRE(stored.size() == 1);
    CHECK(stored[0].kernel == winner.kernel);
    CHECK(stored[0].device_class == device_class(bench.scripts[0]->known));
    CHECK(result.stop == Stop::none);
}

TEST_CASE("finals of what power may decide take both protocols, cuBLASLt too, and the result is their geometric mean") {
    const auto alone = [](const std::string& kernel) {  // many cycles, little energy
        return kernel == kCublasLt ? 1.05 : 0.95 + static_cast<double>(std::hash<std::string>()(kernel) % 7) / 50;
    };
    const auto rounds_alone = [](const ProblemRecord& record) {
        std::map<std::string, int> rounds;
        for (const Trial& trial : record.trials)
            if (count_sustained(trial) > 0) rounds[trial.kernel] = count_sustained(trial);
        return rounds;
    };
    Bench bench;
    bench.scripts[0]->alone = alone;
    const TuneProblem slow = problem(8192, 4096, 8192), quick = problem(1024);
    const SweepResult result = bench.run({slow, quick});
    REQUIRE(result.problems.size() == 2);
    CHECK(rounds_alone(result.problems[1].record).empty());
    CHECK(each_once(bench.turns()));

    const ProblemRecord& record = result.problems[0].record;
    const Winner& winner = record.winner.value();
    CHECK(winner.complete);
    const std::map<std::string, int> rounds = rounds_alone(record);
    CHECK(rounds.size() >= 3);
    CHECK(rounds.size() <= 6);
    CHECK(rounds.at(std::string(kCublasLt)) == 3);
    const auto both_us = [&](const std::string& kernel) {
        return bent_model(slow.spec, kernel) * std::sqrt(alone(kernel));
    };
    for (const auto& [kernel, count] : rounds) {
        CHECK(count == 3);
        if (kernel != kCublasLt) CHECK(both_us(winner.kernel) <= 1.005 * both_us(kernel));
    }
    CHECK(winner.median_us == Approx(both_us(winner.kernel)));
    CHECK(winner.heuristic_us == Approx(both_us(winner.heuristic_kernel)));
    CHECK(winner.cublaslt_us == Approx(both_us(std::string(kCublasLt))));
    CHECK(bench.store.winners().size() == 2);
}

TEST_CASE("a candidate that fails is recorded and the sweep goes on without it") {
    const TuneProblem asked = problem(512);
    const SearchSpace space = search_space(problem_of(asked.spec), find_gpu("h200"), {});
    REQUIRE(space.kernels.size() > 8);
    Bench bench;
    CompileOutcome refused;
    refused.verdict = Verdict::compile_failed;
    refused.message = "ptxas says no";
    bench.compiling.outcomes[space.kernels[0]] = refused;
    bench.scripts[0]->faults = {
        {space.kernels[1], Verdict::wrong}, {space.kernels[2], Verdict::crashed}, {space.kernels[3], Verdict::hung}};
    bench.scripts[0]->late_faults = {{space.kernels[4], Verdict::crashed}};
    SweepOptions options;
    options.strategy = StrategyKind::exhaustive;
    const SweepResult result = bench.run({asked}, options);
    const ProblemRecord& record = result.problems.at(0).record;
    CHECK(trial_of(record, space.kernels[0]).verdict() == Verdict::compile_failed);
    CHECK(trial_of(record, space.kernels[0]).message() == "ptxas says no");
    CHECK(trial_of(record, space.kernels[1]).verdict() == Verdict::wrong);
    CHECK(trial_of(record, space.kernels[3]).verdict() == Verdict::hung);
    CHECK(trial_of(record, space.kernels[4]).verdict() == Verdict::crashed);
    for (int i = 0; i < 5; ++i) {
        INFO(space.kernels[static_cast<std::size_t>(i)]);
        CHECK(trial_of(record, space.kernels[static_cast<std::size_t>(i)]).samples.empty());
    }
    REQUIRE(record.winner);
    CHECK(record.winner->heuristic_us == 0);  // it could not be compiled
    CHECK(record.winner->complete);
    // Neither did the crash cost the others their turns in its round.
    CHECK(each_once(bench.turns()));
    CHECK(samples_in(bench.store.read_sweep(1)) == bench.turns().size());
}

TEST_CASE("a want of memory is no kernel's verdict: nothing of it is stored, and the sweep that goes on tries again") {
    const TuneProblem asked = problem(512);
    const SearchSpace space = search_space(problem_of(asked.spec), find_gpu("h200"), {});
    Bench bench;
    CompileOutcome starved;
    starved.verdict = Verdict::no_memory;
    bench.compiling.outcomes[space.kernels[1]] = starved;
    bench.scripts[0]->faults = {{space.kernels[2], Verdict::no_memory}};
    bench.scripts[0]->late_faults = {{space.kernels[3], Verdict::no_memory}};
    SweepOptions options;
    options.strategy = StrategyKind::exhaustive;
    const SweepResult first = bench.run({asked}, options);
    CHECK_FALSE(first.problems.at(0).record.winner->complete);
    CHECK(first.problems[0].wanted_memory);
    const std::vector<ProblemRecord> stored = bench.store.read_sweep(1);
    for (const Trial& trial : stored.at(0).trials) CHECK(trial.verdict() == Verdict::fine);

    bench.compiling.outcomes.clear();
    bench.scripts[0]->faults.clear();
    bench.scripts[0]->late_faults.clear();
    const SweepResult second = bench.run({asked}, options);
    CHECK(second.resumed);
    CHECK(second.problems.at(0).record.winner->complete);
    for (std::size_t i = 1; i < 4; ++i)
        CHECK_FALSE(trial_of(second.problems[0].record, space.kernels[i]).samples.empty());
    CHECK(each_once(bench.turns()));
}

TEST_CASE("where no candidate is right there is no winner, and the failure says so") {
    Bench bench;
    const TuneProblem asked = problem(64, 64, 64);
    for (const std::string& kernel : search_space(problem_of(asked.spec), find_gpu("h200"), {}).kernels)
        bench.scripts[0]->faults[kernel] = Verdict::wrong;
    const SweepResult result = bench.run({asked});
    CHECK_FALSE(result.problems.at(0).record.winner);
    CHECK_THAT(result.problems.at(0).failure, ContainsSubstring("gave a right result"));
    CHECK(bench.store.winners().empty());
}

TEST_CASE("identical machine code is measured once, and the heuristic's kernel may be its twin") {
    const TuneProblem asked = problem(256);
    const SearchSpace space = search_space(problem_of(asked.spec), find_gpu("h200"), {});
    Bench bench;
    CompileOutcome same;
    same.text_hash = "one and the same";
    bench.compiling.outcomes[space.kernels[0]] = same;
    bench.compiling.outcomes[space.kernels[1]] = same;
    SweepOptions options;
    options.strategy = StrategyKind::exhaustive;
    const SweepResult result = bench.run({asked}, options);
    const ProblemRecord& record = result.problems.at(0).record;
    CHECK(trial_of(record, space.kernels[1]).same_as == space.kernels[0]);
    CHECK(trial_of(record, space.kernels[1]).verdict() == Verdict::same_code);
    CHECK(trial_of(record, space.kernels[1]).samples.empty());
    CHECK(bench.scripts[0]->verified.count(space.kernels[1]) == 0);
}

TEST_CASE("an interrupted sweep goes on where it was: nothing lost, nothing measured twice, the same winner",
          "[threads]") {
    const std::vector<TuneProblem> asked{problem(1024), problem(2048, 512)};
    Bench whole;
    const SweepResult expected = whole.run(asked);
    REQUIRE(expected.problems.size() == 2);
    const auto turns_needed = whole.turns().size();

    Bench bench;
    std::size_t session = 0;
    for (bool done = false; !done && session < 100; ++session) {
        const std::size_t limit = bench.turns().size() + 37;  // this many more turns, then Ctrl-C
        bench.interrupted = [&bench, limit] { return bench.turns().size() >= limit; };
        const SweepResult result = bench.run(asked);
        CHECK(result.resumed == (session > 0));
        done = result.stop == Stop::none;
        if (!done) CHECK(bench.turns().size() == limit);  // not one turn more
        CHECK(samples_in(bench.store.read_sweep(1)) == bench.turns().size());
        if (!done) continue;
        REQUIRE(result.problems.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            REQUIRE(result.problems[i].record.winner);
            CHECK(result.problems[i].record.winner->kernel == expected.problems[i].record.winner->kernel);
        }
    }
    CHECK(session > 2);
    CHECK(each_once(bench.turns()));
    // A round that was cut in two has the heuristic's kernel in both parts.
    CHECK(bench.turns().size() >= turns_needed);
    CHECK(bench.turns().size() <= turns_needed + 2 * session);
}

TEST_CASE("a sweep that is cut short in its finals proposes the kernels it would have proposed") {
    // Times differ from round to round: medians of more rounds order kernels otherwise.
    const auto noise = [](const std::string& kernel, int round) {
        const std::size_t mixed = std::hash<std::string>()(fmt::format("{} {}", kernel, round));
        return 1 + static_cast<double>(mixed % 1000) / 3000;
    };
    const auto kernels_of = [](const SweepResult& result) {
        std::vector<std::string> names;
        for (const Trial& trial : result.problems.at(0).record.trials)
            if (trial.kernel != kCublasLt) names.push_back(trial.kernel);
        return names;
    };
    for (const std::int64_t m : {256, 512, 768, 1024, 1536, 2048, 3072, 4096}) {
        const std::vector<TuneProblem> asked{problem(m)};
        Bench whole;
        whole.scripts[0]->noise = noise;
        const SweepResult expected = whole.run(asked);
        Bench bench;
        bench.scripts[0]->noise = noise;
        const std::size_t nearly_all = whole.turns().size() - 5;
        bench.interrupted = [&] { return bench.turns().size() >= nearly_all; };
        REQUIRE(bench.run(asked).stop == Stop::interrupted);
        bench.interrupted = [] { return false; };
        const SweepResult result = bench.run(asked);
        REQUIRE(result.resumed);
        CHECK(kernels_of(result) == kernels_of(expected));
        CHECK(bench.turns().size() <= whole.turns().size() + 2);
    }
}

TEST_CASE(
    "a sweep kept to a part of the candidates is compared with the heuristic's choice of all, and says what it was") {
    const TuneProblem asked = problem(1024);
    SweepOptions naive;
    naive.selection.family = "simt_naive";
    Bench bench;
    const SweepResult result = bench.run({asked}, naive);
    const Winner& winner = result.problems.at(0).record.winner.value();
    CHECK_THAT(winner.kernel, ContainsSubstring("simt_naive"));
    CHECK(winner.narrowed == "family=simt_naive");
    CHECK(winner.heuristic_kernel == search_space(problem_of(asked.spec), find_gpu("h200"), {}).heuristic_kernel);
    CHECK(winner.heuristic_us == Approx(bent_model(asked.spec, winner.heuristic_kernel)));
    CHECK(winner.median_us > winner.heuristic_us);

    const auto choice = [&](const Selection& selection) {
        const TunedChoices choices(bench.store.winners(), bench.scripts[0]->known.versions);
        return choices.choose(problem_of(asked.spec), find_gpu("h200"), selection).source;
    };
    CHECK(choice({}) == ChoiceSource::heuristic);
    CHECK(choice(naive.selection) == ChoiceSource::exact);
    CHECK(bench.run({asked}).problems.at(0).record.winner->narrowed.empty());
    CHECK(choice({}) == ChoiceSource::exact);
    CHECK(choice(naive.selection) == ChoiceSource::exact);
}

TEST_CASE("fewer candidates, or other operands, leave the winner of a whole search in its place") {
    const TuneProblem asked = problem(1024);
    Bench bench;
    const Winner whole = bench.run({asked}).problems.at(0).record.winner.value();
    SweepOptions other;
    std::string narrowed;
    SECTION("fewer candidates") { other.limits.max_candidates = 1, narrowed = "max-candidates=1"; }
    SECTION("one set of operands") { other.timing.hot = true; }
    SECTION("flushed") { other.timing.protocol = Protocol::cold; }
    const Winner found = bench.run({asked}, other).problems.at(0).record.winner.value();
    CHECK(found.narrowed == narrowed);
    CHECK(found.hot == other.timing.hot);
    CHECK(bench.store.winners().size() == 2);
    const TunedChoices choices(bench.store.winners(), bench.scripts[0]->known.versions);
    const TunedChoice choice = choices.choose(problem_of(asked.spec), find_gpu("h200"));
    CHECK(choice.source == ChoiceSource::exact);
    CHECK(kernel_name(problem_of(asked.spec), choice.config) == whole.kernel);
}

TEST_CASE("a limit that the strategy would not reach anyway narrows nothing") {
    const TuneProblem asked = problem(1024);
    SweepOptions options;
    options.limits.max_candidates = 128;
    Bench bench;
    CHECK(bench.run({asked}, options).problems.at(0).record.winner->narrowed.empty());
    options.strategy = StrategyKind::exhaustive;
    CHECK(bench.run({asked}, options).problems.at(0).record.winner->narrowed == "max-candidates=128");
}

TEST_CASE("hosts that share a folder go on with their own sweeps, each counted from 1") {
    const TemporaryFolder folder;
    Bench one(folder.path(), "one");
    Bench two(folder.path(), "two");
    const std::vector<TuneProblem> asked{problem(1024)};
    for (Bench* const bench : {&one, &two}) {
        bench->interrupted = [bench] { return bench->turns().size() >= 20; };
        REQUIRE(bench->run(asked).stop == Stop::interrupted);
        bench->interrupted = [] { return false; };
    }
    bool begun = false;
    one.scripts[0]->before_turn = [&] {
        if (!std::exchange(begun, true)) CHECK(two.run(asked).resumed);
    };
    CHECK(one.run(asked).resumed);
    REQUIRE(begun);
}

TEST_CASE("problems whose turn comes after the budget cost nothing") {
    std::vector<TuneProblem> asked;
    for (int i = 1; i <= 4000; ++i) asked.push_back(problem(8 * i));
    Bench bench;
    SweepOptions options;
    options.budget_seconds = 0.2;
    const double before = testing::cpu_seconds();
    const SweepResult result = bench.run(asked, options);
    CHECK(testing::cpu_seconds() - before < 15);  // their search spaces alone take a minute
    CHECK(result.stop == Stop::budget);
    REQUIRE(result.problems.size() == asked.size());
    CHECK(result.problems.back().record.spec == asked.back().spec);
    CHECK(result.problems.back().index == asked.size() - 1);
    CHECK(result.problems.back().stop == Stop::budget);
}

TEST_CASE("an interruption just before the last turn of the finals leaves cuBLASLt no round short") {
    const std::vector<TuneProblem> asked{problem(1024)};
    Bench whole;
    static_cast<void>(whole.run(asked));
    const std::size_t needed = whole.turns().size();
    REQUIRE_THAT(whole.turns().back().first, ContainsSubstring(std::string(kCublasLt)));

    Bench bench;
    bench.interrupted = [&] { return bench.turns().size() == needed - 1; };
    CHECK(bench.run(asked).stop == Stop::interrupted);
    bench.interrupted = [] { return false; };
    CHECK(bench.run(asked).stop == Stop::none);
    CHECK(bench.turns().size() >= needed);
    CHECK(bench.turns().size() <= needed + 1);  // the heuristic's kernel beside it
    CHECK(each_once(bench.turns()));
}

TEST_CASE("a problem takes the steps it takes alone, whatever is in flight beside it", "[threads]") {
    std::vector<TuneProblem> asked;
    for (int i = 1; i <= 12; ++i) asked.push_back(problem(192 * i, 640));
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

TEST_CASE("a sweep that is cut off in the middle of a round loses nothing of it but the turn under way", "[threads]") {
    const std::vector<TuneProblem> asked{problem(1024)};
    Bench bench;
    int left = 66;
    bench.scripts[0]->before_turn = [&left] {
        if (left-- == 0) throw std::runtime_error("the device fell off the bus");
    };
    CHECK_THROWS_WITH(bench.run(asked), ContainsSubstring("fell off the bus"));
    CHECK(bench.turns().size() == 66);
    CHECK(samples_in(bench.store.read_sweep(1)) == 66);
    bench.scripts[0]->before_turn = {};
    const SweepResult result = bench.run(asked);
    CHECK(result.resumed);
    CHECK(result.problems.at(0).new_samples == static_cast<int>(bench.turns().size()) - 66);
    CHECK(each_once(bench.turns()));
    const std::vector<ProblemRecord> stored = bench.store.read_sweep(1);
    CHECK(samples_in(stored) == bench.turns().size());
    // The first batch has three rounds of one kernel, of eight and of 25. Nobody saw the end of the second of these.
    int unended = 0;
    for (const Trial& trial : stored.at(0).trials)
        unended += static_cast<int>(
            std::ranges::count(trial.samples, 0, [](const Sample& sample) { return sample.after.power_watts; }));
    CHECK(unended == 66 - 3 * 1 - 3 * 8 - 25);
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

TEST_CASE("a spoilt round that is cut short by Ctrl-C is void", "[threads]") {
    const std::vector<TuneProblem> asked{problem(1024)};
    Bench bench;
    bench.scripts[0]->before_turn = [&] {
        if (bench.turns().size() == 3) bench.scripts[0]->spoilt_rounds = 1;  // those three are the heuristic's kernel's
    };
    bench.interrupted = [&bench] { return bench.turns().size() >= 10; };
    CHECK(bench.run(asked).stop == Stop::interrupted);
    CHECK(bench.turns().size() == 10);
    CHECK(samples_in(bench.store.read_sweep(1)) == 3);
    bench.interrupted = [] { return false; };
    const SweepResult result = bench.run(asked);
    CHECK(result.resumed);
    CHECK(samples_in(bench.store.read_sweep(1)) == bench.turns().size() - 7);
}

TEST_CASE("a budget that runs out stores the best so far as incomplete, and the next run completes it") {
    Bench bench;
    SweepOptions options;
    options.budget_seconds = 1;
    bench.scripts[0]->before_turn = [] { std::this_thread::sleep_for(std::chrono::milliseconds(15)); };
    const std::vector<TuneProblem> asked{problem(4096)};
    const SweepResult cut = bench.run(asked, options);
    CHECK(cut.stop == Stop::budget);
    REQUIRE(cut.problems.at(0).record.winner);
    CHECK_FALSE(cut.problems[0].record.winner->complete);
    CHECK_FALSE(bench.store.winners().at(0).complete);

    bench.scripts[0]->before_turn = {};
    const SweepResult whole = bench.run(asked);
    CHECK(whole.resumed);
    CHECK(bench.store.winners().at(0).complete);
    CHECK(each_once(bench.turns()));
}

TEST_CASE("a budget is shared out: the last problem gets its part") {
    Bench bench;
    SweepOptions options;
    options.budget_seconds = 12;  // a sanitizer takes a second for each problem's candidates alone
    bench.scripts[0]->before_turn = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
    const SweepResult result = bench.run({problem(1024), problem(1088), problem(1152), problem(1216)}, options);
    REQUIRE(result.problems.size() == 4);
    for (const TunedProblem& one : result.problems) CHECK(one.record.winner.has_value());
}

TEST_CASE("what others leave of a budget goes to the problems that their share cut short") {
    // Two slow problems, and 98 that leave their shares: no family multiplies e4m3.
    std::vector<TuneProblem> asked{problem(1024), problem(1088)};
    for (int i = 1; i <= 98; ++i)
        asked.push_back({resolved({.m = 8 * i, .n = 64, .k = 64, .a = DataType::e4m3}), 1.0F, 0.0F});
    Bench bench;
    SweepOptions options;
    options.budget_seconds = 60;
    const auto start = std::chrono::steady_clock::now();
    bench.scripts[0]->before_turn = [&] {
        if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1500))
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
    };
    const SweepResult result = bench.run(asked, options);
    CHECK(result.stop == Stop::none);
    REQUIRE(bench.finished.size() == asked.size());  // each is told once,
    for (std::size_t last = asked.size() - 2; last < asked.size(); ++last) {
        CHECK(bench.finished[last].index < 2);  // those that went on behind the others
        REQUIRE(bench.finished[last].record.winner.has_value());
        CHECK(bench.finished[last].record.winner->complete);
    }
    CHECK(each_once(bench.turns()));
    CHECK(bench.finished[98].new_samples + bench.finished[99].new_samples == static_cast<int>(bench.turns().size()));
}

TEST_CASE("a finished sweep is reported on request, and done again without") {
    Bench bench;
    const std::vector<TuneProblem> asked{problem(1024)};
    const SweepResult first = bench.run(asked);
    const std::size_t turns = bench.turns().size();

    SweepOptions resume;
    resume.resume_finished = true;
    const SweepResult reported = bench.run(asked, resume);
    CHECK(reported.was_finished);
    CHECK(bench.turns().size() == turns);
    REQUIRE(reported.problems.size() == 1);
    CHECK(reported.problems[0].record.winner->kernel == first.problems[0].record.winner->kernel);
    CHECK(reported.problems[0].record.trials.size() == first.problems[0].record.trials.size());

    const SweepResult again = bench.run(asked);
    CHECK_FALSE(again.resumed);
    CHECK(bench.turns().size() == 2 * turns);
}

TEST_CASE("what was asked otherwise is another sweep") {
    const std::vector<TuneProblem> asked{problem(1024)};
    SweepOptions options;
    const std::string text = sweep_request(asked, options);
    options.strategy = StrategyKind::exhaustive;
    CHECK(sweep_request(asked, options) != text);
    options = {};
    options.timing.hot = true;
    CHECK(sweep_request(asked, options) != text);
    options = {};
    options.selection.parameters["stages"] = "4";
    CHECK(sweep_request(asked, options) != text);
    options = {};
    options.budget_seconds = 60;  // how long is not what
    CHECK(sweep_request(asked, options) == text);
    CHECK(sweep_request({problem(1025)}, options) != text);
}

TEST_CASE("devices of one class share the problems, those of another do all of them", "[threads]") {
    Bench bench(3);
    bench.scripts[2]->known.model.sm_count = 78;
    std::vector<TuneProblem> asked;
    for (int i = 1; i <= 8; ++i) asked.push_back(problem(256 * i));
    const SweepResult result = bench.run(asked);
    CHECK(result.problems.size() == 16);
    CHECK(bench.store.winners(device_class(bench.scripts[0]->known)).size() == 8);
    CHECK(bench.store.winners(device_class(bench.scripts[2]->known)).size() == 8);
    CHECK(bench.finished.size() == 16);
    CHECK(result.stop == Stop::none);
}

TEST_CASE("the winner of a part of the candidates takes nobody's place, and serves no plain request") {
    Bench bench;
    const std::vector<TuneProblem> asked{problem(1024)};
    const SweepResult whole = bench.run(asked);
    SweepOptions part;
    part.selection.parameters["stages"] = "2";
    const SweepResult narrowed = bench.run(asked, part);
    const Winner& best = *whole.problems.at(0).record.winner;
    const Winner& second = *narrowed.problems.at(0).record.winner;
    REQUIRE(second.median_us > best.median_us);
    CHECK(second.narrowed == "stages=2");
    REQUIRE(bench.store.winners().size() == 2);  // beside each other
    const TunedChoices choices(bench.store.winners(), bench.scripts[0]->known.versions);
    const TunedChoice choice = choices.choose(problem_of(asked[0].spec), find_gpu("h200"));
    CHECK(kernel_name(problem_of(asked[0].spec), choice.config) == best.kernel);
}

TEST_CASE("a problem that nothing serves fails alone") {
    Bench bench;
    TuneProblem unserved = problem(128);
    unserved.spec = resolved({.m = 128,
                              .n = 128,
                              .k = 128,
                              .a = DataType::s8,
                              .b = DataType::s8,
                              .d = DataType::s32,
                              .accumulator = DataType::s32});
    const SweepResult result = bench.run({unserved, problem(128)});
    REQUIRE(result.problems.size() == 2);
    CHECK_THAT(result.problems[0].failure, ContainsSubstring("no kernel serves"));
    CHECK(result.problems[1].record.winner.has_value());

    SweepOptions resume;
    resume.resume_finished = true;
    const SweepResult again = bench.run({unserved, problem(128)}, resume);
    CHECK(again.was_finished);
    REQUIRE(again.problems.size() == 2);
    CHECK(again.problems[0].unserved);
    CHECK(again.problems[0].failure == result.problems[0].failure);
    CHECK(again.problems[1].record.winner.has_value());
}

TEST_CASE("two sweeps at once on one store each have their own") {
    Bench bench;
    TuningStore second(bench.folder.path());
    const std::vector<TuneProblem> asked{problem(1024)};
    bool begun = false;
    bench.scripts[0]->before_turn = [&] {
        if (std::exchange(begun, true)) return;
        ScriptedCompiling compiling;
        std::vector<std::unique_ptr<MeasureService>> devices;
        devices.push_back(std::make_unique<ScriptedMeasuring>(bent_model));
        const SweepResult other = Sweep(asked, {},
                                        {.compiling = compiling,
                                         .devices = devices,
                                         .store = second,
                                         .interrupted = [] { return false; },
                                         .on_progress = {},
                                         .on_problem = {}})
                                      .run();
        CHECK_FALSE(other.resumed);
        CHECK(other.problems.at(0).record.winner.has_value());
    };
    const SweepResult result = bench.run(asked);
    CHECK(result.problems.at(0).record.winner.has_value());
    CHECK(result.stop == Stop::none);
}

TEST_CASE("a sweep goes on where there are no locks, is resumed there, and leaves no lock files") {
    const WithoutLocks none(ENOLCK);
    Bench bench;
    const std::vector<TuneProblem> asked{problem(1024)};
    bench.interrupted = [&bench] { return bench.turns().size() >= 37; };
    CHECK(bench.run(asked).stop == Stop::interrupted);
    bench.interrupted = [] { return false; };
    const SweepResult result = bench.run(asked);
    CHECK(result.resumed);
    CHECK(result.problems.at(0).record.winner.value().complete);
    CHECK(each_once(bench.turns()));
    for (const auto& entry : std::filesystem::directory_iterator(bench.folder.path()))
        CHECK(entry.path().extension() != ".lock");
    CHECK(bench.store.read_sweep(2).empty());  // one sweep alone was begun
}

TEST_CASE("a budget that ends while the first candidates compile leaves the heuristic's kernel timed, and a winner") {
    const TuneProblem asked = problem(1024);
    const std::string heuristic = search_space(problem_of(asked.spec), find_gpu("h200"), {}).heuristic_kernel;
    const std::size_t compiled = GENERATE(1U, 12U, 20U);
    Bench bench;
    FewCompiling compiling(compiled);
    bench.interrupted = [&compiling] { return compiling.is_over(); };
    const SweepResult result = bench.run({asked}, {}, compiling);
    CHECK(result.stop == Stop::interrupted);
    const Winner& winner = result.problems.at(0).record.winner.value();
    CHECK_FALSE(winner.complete);
    CHECK(winner.candidates_timed >= static_cast<int>(std::min<std::size_t>(compiled, 8)));
    for (int turn = 0; turn < 3; ++turn)
        CHECK_THAT(bench.turns().at(static_cast<std::size_t>(turn)).first, ContainsSubstring(heuristic));
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
