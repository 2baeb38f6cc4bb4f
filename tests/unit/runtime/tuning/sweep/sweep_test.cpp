/// A sweep finds, measures and stores winners.

#include "runtime/tuning/sweep/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/support/sweep_bench.hpp"

#include <algorithm>
#include <cmath>
#include <map>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace jitgemm::tuning::testing;
using Catch::Matchers::ContainsSubstring;

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
    unserved.spec =
        resolved({.m = 128, .n = 128, .k = 128, .a = DataType::tf32, .b = DataType::tf32, .d = DataType::f32});
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
