#include "runtime/tuning/report/tune_report.hpp"

#include "generator/families/kernel_name.hpp"
#include "runtime/tuning/report/tune_charts.hpp"
#include "runtime/tuning/report/tune_figures.hpp"
#include "tests/catch.hpp"
#include "tests/support/markup_check.hpp"
#include "tests/support/tune_reports.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::string> lines_of_text(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Commas outside quotes.
int separators(const std::string& line) {
    int count = 0;
    bool quoted = false;
    for (const char letter : line) {
        if (letter == '"') quoted = !quoted;
        if (letter == ',' && !quoted) ++count;
    }
    return count;
}

/// A problem with a candidate for each (kernel, time).
ProblemFigures problem_with(const std::vector<std::pair<std::string, double>>& timed) {
    ProblemRecord record;
    for (const auto& [kernel, us] : timed) {
        Trial& trial = record.trials.emplace_back();
        trial.kernel = kernel;
        trial.verified.emplace();
        trial.samples.emplace_back().us = us;
    }
    return figures_of(record);
}

std::string kernel_with(int stages, int block_n) {
    MmaMultistageConfig config;
    config.stages = stages;
    config.block.n = block_n;
    return kernel_name({GemmSignature{}, {config}});
}

}  // namespace

TEST_CASE("tune figures: best, speed-ups, failures and twins of a problem") {
    const TuneReport report = made_up_sweep();
    const ProblemFigures first = figures_of(report.problems[0]);
    REQUIRE(first.tried == 40);
    REQUIRE(first.failed == 3);
    REQUIRE(first.timed.size() == 36);  // and one twin
    REQUIRE(first.kernel == report.problems[0].winner->kernel);
    REQUIRE(first.over_heuristic().value() == 1.25);
    REQUIRE(first.over_cublaslt().value() == 0.5);
    REQUIRE(first.timed.front().relative == 1);
    REQUIRE(std::ranges::is_sorted(first.timed, {}, &TimedCandidate::us));

    const ProblemFigures unfinished = figures_of(report.problems[2]);
    REQUIRE_FALSE(unfinished.complete);
    REQUIRE(unfinished.kernel == unfinished.timed.front().kernel);
    REQUIRE_FALSE(unfinished.over_heuristic());
    REQUIRE(figures_of(report.problems[3]).best_us == 0);
}

TEST_CASE("tune figures: what a parameter's value costs, by hand") {
    const ProblemFigures one =
        problem_with({{kernel_with(3, 128), 10}, {kernel_with(4, 128), 12}, {kernel_with(4, 256), 20}});
    const ProblemFigures two =
        problem_with({{kernel_with(3, 128), 30}, {kernel_with(4, 128), 20}, {"unknown_kernel", 25}});
    const std::vector<ParameterEffect> effects = parameter_effects({one, two});
    REQUIRE(effects.size() == 2);  // block and stages vary
    REQUIRE(effects[0].parameter == "block");
    REQUIRE(effects[1].parameter == "stages");
    REQUIRE(effects[1].family == "mma_multistage");
    const ValueEffect& three = effects[1].values[0];
    REQUIRE(three.value == "3");
    REQUIRE(three.problems == 2);
    REQUIRE(three.best == Approx(std::sqrt(1.0 * 1.5)));
    const ValueEffect& four = effects[1].values[1];
    REQUIRE(four.best == Approx(std::sqrt(1.2 * 1.0)));
    REQUIRE(four.median == Approx(std::sqrt(1.6 * 1.0)));  // of 1.2 and 2.0
    REQUIRE(four.kernels == 3);
    REQUIRE(effects[0].values[1].value == "128x256x32");
    REQUIRE(effects[0].importance() == Approx(2.0 / 1.0));
}

TEST_CASE("tune figures: failures that are alike are one line, the most frequent first") {
    const std::vector<FailureGroup> groups = failure_groups(made_up_sweep().problems);
    REQUIRE(groups.size() == 2);
    REQUIRE((groups[0].verdict == Verdict::wrong && groups[0].count == 2));
    REQUIRE(groups[1].reason == "ptxas error : too \"much\", <really>");
}

TEST_CASE("tune figures: readings in the order of the rounds, each turn once") {
    const std::vector<DeviceReading> readings = reading_sequence(made_up_sweep().problems);
    REQUIRE(readings.size() == 9);  // three rounds of three problems
    REQUIRE(std::ranges::is_sorted(readings, {}, &DeviceReading::power_watts));
    TuneReport cut_short = made_up_sweep();  // the first round of the first problem
    for (Trial& trial : cut_short.problems[0].trials)
        for (Sample& sample : trial.samples)
            if (sample.round == 0) sample.after = {};
    REQUIRE(reading_sequence(cut_short.problems).size() == 8);
}

TEST_CASE("tune page: well-formed and self-contained, with its charts, winners and reasons") {
    const TuneReport report = made_up_sweep();
    const std::string html = tune_page(report);
    REQUIRE(markup_fault(html, true).empty());
    REQUIRE_FALSE(loads_something(html));
    REQUIRE_THAT(html, ContainsSubstring(report.problems[0].winner->kernel));
    REQUIRE_THAT(html, ContainsSubstring("NVIDIA H200 &lt;&quot;&amp;&#39;&gt;"));
    REQUIRE_THAT(html, ContainsSubstring("too &quot;much&quot;, &lt;really&gt;"));
    REQUIRE_THAT(html, ContainsSubstring("measured µs against predicted µs"));
    REQUIRE_THAT(html, ContainsSubstring("stages (wgmma_warp_specialized)"));
    REQUIRE_THAT(html, ContainsSubstring("SM clock, MHz"));
    REQUIRE_THAT(html, ContainsSubstring("<dt>over the heuristic</dt><dd>1.250</dd>"));
    // A mark a timed candidate in the strips and in the scatter: 36 + 40 + 40 of each.
    REQUIRE(count_of(distribution_chart({figures_of(report.problems[0])}), "data-h") == 36);
    REQUIRE(count_of(prediction_chart({figures_of(report.problems[1])}, "measured"), "data-h") == 40);
}

TEST_CASE("tune page: what the emulator estimates is not called measured") {
    TuneReport report = made_up_sweep();
    report.device.emulator = true;
    const std::string html = tune_page(report);
    REQUIRE_THAT(html, ContainsSubstring("estimated µs against predicted µs"));
    REQUIRE_THAT(html, ContainsSubstring(" us estimated, ") && !ContainsSubstring(" us measured, "));
}

TEST_CASE("tune figures: speed-ups by range, the worst first, and why a problem has no time") {
    std::vector<ProblemFigures> problems;
    for (const double speed : {0.93, 1.02, 1.04, 1.3, 0.94}) {
        problems.emplace_back().best_us = 1;
        problems.back().heuristic_us = speed;
    }
    problems.emplace_back();  // without a time
    const std::vector<SpeedupBin> bins = speedup_bins(problems, &ProblemFigures::over_heuristic);
    REQUIRE(bins.size() == 6);  // 0.9, 0.95, 1, 1.05, 1.1, 1.2 to 1.5
    REQUIRE((bins.front().least == 0.9 && bins.front().problems == 2));
    REQUIRE((bins[2].least == 1.0 && bins[2].problems == 2));
    REQUIRE((bins.back().most == 1.5 && bins.back().problems == 1));
    const auto slowest = worst(problems, &ProblemFigures::over_heuristic, 2);
    REQUIRE(slowest.size() == 2);
    REQUIRE(slowest[0].heuristic_us == 0.93);
    REQUIRE(slowest[1].heuristic_us == 0.94);

    const TuneReport report = made_up_sweep();
    REQUIRE(figures_of(report.problems[0]).untimed_reason.empty());
    REQUIRE_THAT(figures_of(report.problems[3]).untimed_reason, ContainsSubstring("no candidate was tried"));
    ProblemRecord failed = report.problems[0];
    failed.winner.reset();
    std::erase_if(failed.trials, [](const Trial& trial) { return !trial.samples.empty() || !trial.same_as.empty(); });
    REQUIRE(figures_of(failed).untimed_reason == "3 of 3 candidates failed, 2 alike: wrong: D(0, 1) is 3, not 4");
}

TEST_CASE("tune page: of many problems a summary, the worst ten and a table, not a bar each") {
    TuneReport report = made_up_sweep();
    const std::string few = tune_page(report);
    REQUIRE_THAT(few, ContainsSubstring("<h2>Summary</h2>") && ContainsSubstring("<h2>Each problem</h2>"));
    while (report.problems.size() < 150) report.problems.push_back(report.problems[report.problems.size() % 3]);
    const std::string many = tune_page(report);
    REQUIRE(markup_fault(many, true).empty());
    REQUIRE_THAT(many, ContainsSubstring("<h2>Summary</h2>") && ContainsSubstring("The 10 lowest over cuBLASLt") &&
                           ContainsSubstring("TFLOP/s, log scale") && !ContainsSubstring("<h2>Each problem</h2>"));
    REQUIRE(many.find("<h2>Summary</h2>") < many.find("<table>"));
    REQUIRE_THAT(many, ContainsSubstring("candidates failed</dt><dd>"));
}

TEST_CASE("tune page: a sweep without a problem, without a time and without NVML is a page all the same") {
    TuneReport report = made_up_sweep();
    for (ProblemRecord& problem : report.problems)
        for (Trial& trial : problem.trials)
            for (Sample& sample : trial.samples) sample.before = sample.after = {};
    REQUIRE_THAT(tune_page(report), !ContainsSubstring("SM clock"));
    report.problems = {report.problems[3]};
    REQUIRE(markup_fault(tune_page(report), true).empty());
    report.problems.clear();
    REQUIRE(markup_fault(tune_page(report), true).empty());
}

TEST_CASE("tune csv: a row per sample, one for a trial without, all with the same columns") {
    const std::string csv = tune_csv(made_up_sweep());
    std::vector<std::string> lines;
    for (const std::string& line : lines_of_text(csv)) {  // a message of two lines is one field
        const bool inside = !lines.empty() && std::ranges::count(lines.back(), '"') % 2 == 1;
        if (inside)
            lines.back() += "\n" + line;
        else
            lines.push_back(line);
    }
    REQUIRE(lines.size() == 1 + 3 * (36 + 40 + 40) + 4);
    for (const std::string& line : lines) REQUIRE(separators(line) == separators(lines.front()));
    REQUIRE_THAT(csv, ContainsSubstring("\"ptxas error : too \"\"much\"\", <really>\nsecond line\""));
    REQUIRE_THAT(csv, ContainsSubstring(",same_code,"));
}

TEST_CASE("tune json: every measurement, and back") {
    const TuneReport report = made_up_sweep();
    const Json json = parse_json(json_line(tune_json(report)));
    REQUIRE(json["device_class"] == device_class(report.device));
    REQUIRE(json["problems"].size() == 4);
    for (std::size_t p = 0; p < 4; ++p) {
        const Json& problem = json["problems"][p];
        REQUIRE(parse_gemm_spec(problem["spec"].get<std::string>()) == report.problems[p].spec);
        REQUIRE(problem["winner"].is_null() == !report.problems[p].winner.has_value());
        REQUIRE(problem["trials"].size() == report.problems[p].trials.size());
        for (std::size_t t = 0; t < problem["trials"].size(); ++t)
            REQUIRE(problem["trials"][t].get<Trial>().times_us() == report.problems[p].trials[t].times_us());
    }
}
