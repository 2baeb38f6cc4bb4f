/// Sweeps with a budget of time.

#include "runtime/tuning/sweep/sweep.hpp"
#include "tests/catch.hpp"
#include "tests/support/sweep_bench.hpp"
#include "tests/support/timing.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace jitgemm::tuning::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

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

}  // namespace

TEST_CASE("problems whose turn comes after the budget cost nothing") {
    std::vector<TuneProblem> asked;
    for (int i = 1; i <= 4000; ++i) asked.push_back(problem(8 * i));
    Bench bench;
    SweepOptions options;
    options.budget_seconds = 0.2;
    const double before = jitgemm::testing::cpu_seconds();
    const SweepResult result = bench.run(asked, options);
    CHECK(jitgemm::testing::cpu_seconds() - before < 15);  // their search spaces alone take a minute
    CHECK(result.stop == Stop::budget);
    REQUIRE(result.problems.size() == asked.size());
    CHECK(result.problems.back().record.spec == asked.back().spec);
    CHECK(result.problems.back().index == asked.size() - 1);
    CHECK(result.problems.back().stop == Stop::budget);
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
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    options.budget_seconds = 12;  // a second for each problem's candidates alone
#else
    options.budget_seconds = 6;
#endif
    bench.scripts[0]->before_turn = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
    const SweepResult result = bench.run({problem(1024), problem(1088), problem(1152), problem(1216)}, options);
    REQUIRE(result.problems.size() == 4);
    for (const TunedProblem& one : result.problems) CHECK(one.record.winner.has_value());
}

TEST_CASE("what others leave of a budget goes to the problems that their share cut short") {
    // Two slow problems, and 98 that leave their shares: no family multiplies tf32.
    std::vector<TuneProblem> asked{problem(1024), problem(1088)};
    for (int i = 1; i <= 98; ++i)
        asked.push_back({resolved({.m = 8 * i, .n = 64, .k = 64, .a = DataType::tf32}), 1.0F, 0.0F});
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
