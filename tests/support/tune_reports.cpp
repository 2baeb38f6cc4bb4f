#include "tests/support/tune_reports.hpp"

#include "runtime/tuning/search/search.hpp"
#include "tests/support/landscape.hpp"

namespace jitgemm::testing {
namespace {

using namespace tuning;

constexpr std::size_t kCandidates = 40;
constexpr int kRounds = 3;

DeviceReading reading(int turn) { return {1755 - 15 * (turn % 7), 2619, 500.0 + 5 * turn, 45 + turn / 2, 4}; }

Trial timed_trial(const Landscape& landscape, std::size_t candidate, int problem) {
    Trial trial;
    trial.kernel = landscape.space().kernels[candidate];
    trial.predicted_us = landscape.space().candidates[candidate].cost.total_us;
    trial.compile = CompileOutcome{Verdict::fine, "", 120.5, 168, 0, {}, "hash"};
    trial.verified.emplace();
    for (int round = 0; round < kRounds; ++round)
        trial.samples.push_back({round, landscape.time_of(trial.kernel) * (1 + 0.001 * round),
                                 reading(10 * problem + round), reading(10 * problem + round + 1)});
    return trial;
}

ProblemRecord problem_of(const std::string& shape, int index) {
    const SearchSpace space = search_space(problem_of(parse_shape_line(shape)), find_gpu("h200"), {});
    const Landscape landscape(space, static_cast<std::uint64_t>(index));
    ProblemRecord problem{space.spec, {}, std::nullopt};
    for (std::size_t i = 0; i < kCandidates; ++i) problem.trials.push_back(timed_trial(landscape, i, index));
    return problem;
}

void crown(ProblemRecord& problem) {
    Winner& winner = problem.winner.emplace();
    winner.spec = problem.spec;
    winner.kernel = pick_winner(problem.trials, {problem.trials.front().kernel}).value();
    const auto times = [&](const std::string& kernel) {
        return std::ranges::find(problem.trials, kernel, &Trial::kernel)->times_us();
    };
    winner.median_us = median_interval(times(winner.kernel)).median;
    winner.heuristic_kernel = problem.trials.front().kernel;
    winner.heuristic_us = 1.25 * winner.median_us;
    winner.cublaslt_us = 0.5 * winner.median_us;
    winner.complete = true;
}

void fail(Trial& trial, Verdict verdict, const std::string& message) {
    trial.samples.clear();
    if (verdict == Verdict::compile_failed)
        trial.compile->verdict = verdict, trial.compile->message = message;
    else
        trial.verified = VerifyOutcome{verdict, message};
}

}  // namespace

TuneReport made_up_sweep() {
    TuneReport report;
    report.device = {find_gpu("h200"), 0, std::size_t{141} << 30U, false, {"0.1.0", "ab12", 130, 130}};
    report.device.model.name = "NVIDIA H200 <\"&'>";
    int index = 0;
    for (const std::string shape : {"bf16 tn 4096 4096 4096", "bf16 tn 16 6144 4096", "f32 tn 1024 1024 1024"})
        report.problems.push_back(problem_of(shape, index++));
    std::vector<Trial>& trials = report.problems.front().trials;
    fail(trials[5], Verdict::compile_failed, "ptxas error : too \"much\", <really>\nsecond line");
    fail(trials[6], Verdict::wrong, "D(0, 1) is 3, not 4");
    fail(trials[7], Verdict::wrong, "D(0, 1) is 3, not 4");
    trials[8].samples.clear();
    trials[8].same_as = trials[9].kernel;
    for (std::size_t i = 0; i < 2; ++i) crown(report.problems[i]);
    report.problems.push_back({resolved(parse_shape_line("bf16 tn 64 64 64")), {}, std::nullopt});
    return report;
}

}  // namespace jitgemm::testing
