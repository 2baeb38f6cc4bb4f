/// Sweeps that are interrupted, go on, or share a store with others.

#include "runtime/tuning/sweep/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/support/sweep_bench.hpp"
#include "tests/support/without_locks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <stdexcept>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace jitgemm::tuning::testing;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::WithoutLocks;

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
    GemmSpec groups = problem(1024).spec;
    groups.groups = 4;
    CHECK(sweep_request({{groups, 1, 0, GroupSizes::random}}, options) !=
          sweep_request({{groups, 1, 0, GroupSizes::skewed}}, options));
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

TEST_CASE("a sweep times groups of the sizes that a problem asks for") {
    Bench bench;
    GemmSpec groups{.m = 4096, .n = 1024, .k = 1024};
    groups.groups = 8;
    static_cast<void>(bench.run({{resolved(groups), 1.0F, 0.0F, GroupSizes::skewed, 5}}));
    CHECK(bench.scripts.front()->group_draws == std::set{std::pair(GroupSizes::skewed, std::uint64_t{5})});
}
