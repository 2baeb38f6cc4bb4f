#include "runtime/cli/tune/output.hpp"

#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace jitgemm::cli {
namespace {

using tuning::Stop;
using tuning::SweepProgress;
using tuning::SweepResult;
using tuning::Trial;
using tuning::TunedProblem;
using tuning::Verdict;
using tuning::Winner;

constexpr std::chrono::milliseconds kBetweenLines{1000};
constexpr std::chrono::milliseconds kBetweenUpdates{100};  // of the progress line

std::string duration_text(double seconds) {
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    if (seconds < 100) return fmt::format("{:.0f} s", seconds);
    return fmt::format("{:.0f} min {:02.0f} s", std::floor(seconds / 60), std::fmod(seconds, 60));
}

/// How many times faster the winner is; 0 where the other was not measured.
double speedup(double other_us, const Winner& winner) {
    return winner.median_us == 0 ? 0 : other_us / winner.median_us;
}

/// Ours by verdict: cuBLASLt's stand-in is no candidate.
std::map<std::string, int> verdicts(const std::vector<Trial>& trials) {
    std::map<std::string, int> counts;
    for (const Trial& trial : trials)
        if (trial.kernel != tuning::kCublasLt) ++counts[std::string(to_string(trial.verdict()))];
    return counts;
}

int count(const std::vector<Trial>& trials, bool (*what)(Verdict)) {
    return static_cast<int>(std::ranges::count_if(
        trials, [&](const Trial& trial) { return trial.kernel != tuning::kCublasLt && what(trial.verdict()); }));
}

bool is_any(Verdict) { return true; }
bool is_failure(Verdict verdict) { return verdict != Verdict::fine && verdict != Verdict::same_code; }

const char* to_text(Stop stop) {
    static constexpr std::array kTexts{"none", "budget", "interrupted"};  // in the order of the enumeration
    return kTexts.at(static_cast<std::size_t>(stop));
}

std::string best_so_far(const SweepProgress& progress) {
    return progress.best_us == 0 ? std::string() : fmt::format(", best {:.2f} us", progress.best_us);
}

std::string progress_line(const SweepProgress& progress, const GemmSpec& spec) {
    std::string line = fmt::format("[{}/{}] {}: {} tried, {} timed{}", progress.problems_done + 1, progress.problems,
                                   shape_text(spec), progress.verified, progress.timed, best_so_far(progress));
    if (progress.waiting_compiles > 0) line += fmt::format(", {} compiling", progress.waiting_compiles);
    if (progress.remaining_seconds) line += fmt::format(", {} left", duration_text(*progress.remaining_seconds));
    return line;
}

Json progress_document(const SweepProgress& progress, const GemmSpec& spec) {
    return {{"event", "progress"},
            {"problem", shape_text(spec)},
            {"problems_done", progress.problems_done},
            {"problems", progress.problems},
            {"trials", progress.trials},
            {"verified", progress.verified},
            {"timed", progress.timed},
            {"compiling", progress.waiting_compiles},
            {"best_us", progress.best_us},
            {"best_kernel", progress.best_kernel},
            {"elapsed_seconds", progress.elapsed_seconds},
            {"remaining_seconds", or_null(progress.remaining_seconds)}};
}

Json null_if_zero(double value) { return value == 0 ? Json() : Json(value); }

Json winner_document(const Winner& winner) {
    return {{"kernel", winner.kernel},
            {"median_us", winner.median_us},
            {"low_us", winner.low_us},
            {"high_us", winner.high_us},
            {"tflops", tflops(winner.spec, winner.median_us)},
            {"heuristic_kernel", winner.heuristic_kernel},
            {"heuristic_us", null_if_zero(winner.heuristic_us)},
            {"speedup_over_heuristic", null_if_zero(speedup(winner.heuristic_us, winner))},
            {"cublaslt_us", null_if_zero(winner.cublaslt_us)},
            {"speedup_over_cublaslt", null_if_zero(speedup(winner.cublaslt_us, winner))},
            {"complete", winner.complete},
            {"protocol", winner.hot ? "hot" : std::string(to_string(winner.protocol))},
            {"narrowed", winner.narrowed},
            {"device_class", winner.device_class},
            {"device", winner.device_name}};
}

Json problem_document(const TunedProblem& problem) {
    return {{"shape", shape_text(problem.record.spec)},
            {"spec", to_string(problem.record.spec)},
            {"winner", problem.record.winner ? winner_document(*problem.record.winner) : Json()},
            {"trials", count(problem.record.trials, is_any)},
            {"verdicts", verdicts(problem.record.trials)},
            {"new_samples", problem.new_samples},
            {"stopped_by", to_text(problem.stop)},
            {"failure", problem.failure.empty() ? Json() : Json(problem.failure)},
            {"seconds", problem.seconds}};
}

/// Over the problems where both were measured; nothing where there are none.
std::optional<double> geometric_mean(const SweepResult& result, double Winner::*other) {
    double logs = 0;
    int count = 0;
    for (const TunedProblem& problem : result.problems) {
        if (!problem.record.winner || (*problem.record.winner).*other == 0) continue;
        logs += std::log(speedup((*problem.record.winner).*other, *problem.record.winner));
        ++count;
    }
    return count == 0 ? std::nullopt : std::optional(std::exp(logs / count));
}

/// Of the devices' time, the part in which they verified or timed.
double busy_share(const SweepResult& result, std::size_t devices) {
    const double all = result.seconds * static_cast<double>(devices);
    return all == 0 ? 0 : result.measuring_seconds / all;
}

std::string ratio_text(const char* over, double ratio) {
    return ratio == 0 ? std::string() : fmt::format("  {:.3f}x {}", ratio, over);
}

}  // namespace

TuneWatcher::TuneWatcher(Output& output, std::vector<GemmSpec> problems, bool quiet)
    : output_(output), problems_(std::move(problems)), quiet_(quiet) {}

/// After Ctrl-C problems in between have none.
TuneWatcher::~TuneWatcher() {
    for (const auto& [device_class, lines] : lines_)
        for (const auto& [problem, line] : lines.waiting) output_.text(line);
    std::fflush(stdout);
}

bool TuneWatcher::due() {
    const Clock::time_point now = Clock::now();
    if (now - last_ < (output_.json() ? kBetweenLines : kBetweenUpdates)) return false;
    last_ = now;
    return true;
}

void TuneWatcher::progress(const SweepProgress& progress) {
    if (quiet_ || !due()) return;
    const GemmSpec& spec = problems_.at(progress.problem);
    if (output_.json())
        output_.note(progress_document(progress, spec).dump());
    else
        output_.progress(progress_line(progress, spec));
}

void TuneWatcher::problem(const TunedProblem& problem) {
    if (output_.json() && !quiet_) {
        Json line = problem_document(problem);
        line["event"] = "problem";
        output_.note(line.dump());
    }
    Lines& lines = lines_[problem.device_class];
    lines.waiting.emplace(problem.index, tune_line(problem));
    for (auto line = lines.waiting.find(lines.next); line != lines.waiting.end();
         line = lines.waiting.find(lines.next)) {
        output_.text(line->second);
        lines.waiting.erase(line);
        ++lines.next;
    }
    std::fflush(stdout);
}

std::string how_searched(const Winner& winner) {
    std::string text = winner.complete ? "" : ", search not finished";
    if (!winner.narrowed.empty()) text += ", narrowed to " + winner.narrowed;
    if (winner.hot) return text + ", hot";
    return winner.protocol == Protocol::steady ? text : fmt::format("{}, {}", text, to_string(winner.protocol));
}

std::string tune_line(const TunedProblem& problem) {
    const std::string shape = shape_text(problem.record.spec);
    if (!problem.record.winner) {
        const std::string why = problem.failure.empty() ? "nothing was timed before the end" : problem.failure;
        return fmt::format("{:<28} no winner: {}\n", shape, why);
    }
    const Winner& winner = *problem.record.winner;
    const int failed = count(problem.record.trials, is_failure);
    std::string line = fmt::format("{:<28} {:9.2f} us {:7.1f} TFLOP/s", shape, winner.median_us,
                                   tflops(winner.spec, winner.median_us));
    line += ratio_text("heuristic", speedup(winner.heuristic_us, winner));
    line += ratio_text("cuBLASLt", speedup(winner.cublaslt_us, winner));
    line += fmt::format("  {} tried{}{}\n  {}\n", count(problem.record.trials, is_any),
                        failed == 0 ? "" : fmt::format(", {} failed", failed), how_searched(winner), winner.kernel);
    return line;
}

std::string tune_summary(const SweepResult& result, std::size_t devices) {
    std::string text;
    if (result.was_finished) text += "this sweep was finished before: nothing was measured\n";
    if (const auto mean = geometric_mean(result, &Winner::heuristic_us))
        text += fmt::format("over the heuristic: {:.3f}x (geometric mean)\n", *mean);
    if (const auto mean = geometric_mean(result, &Winner::cublaslt_us))
        text += fmt::format("over cuBLASLt's best: {:.3f}x (geometric mean)\n", *mean);
    if (result.was_finished) return text;
    text += fmt::format("{} in {}, devices busy {:.0f} % of it\n",
                        counted(static_cast<std::int64_t>(result.problems.size()), "problem"),
                        duration_text(result.seconds), 100 * busy_share(result, devices));
    if (result.stop == Stop::budget)
        text += "the budget ended the search early: the same command goes on where it was\n";
    if (result.stop == Stop::interrupted) text += "interrupted: the same command goes on where it was\n";
    return text;
}

Json tune_document(const SweepResult& result, const std::string& store, std::size_t devices) {
    return {{"problems", json_array(result.problems, problem_document)},
            {"speedup_over_heuristic", or_null(geometric_mean(result, &Winner::heuristic_us))},
            {"speedup_over_cublaslt", or_null(geometric_mean(result, &Winner::cublaslt_us))},
            {"resumed", result.resumed},
            {"was_finished", result.was_finished},
            {"stopped_by", to_text(result.stop)},
            {"seconds", result.seconds},
            {"device_busy_share", busy_share(result, devices)},
            {"store", store}};
}

}  // namespace jitgemm::cli
