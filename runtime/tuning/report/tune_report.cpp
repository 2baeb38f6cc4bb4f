#include "runtime/tuning/report/tune_report.hpp"

#include "generator/draw/html_page.hpp"
#include "generator/draw/markup.hpp"
#include "runtime/tuning/report/tune_charts.hpp"
#include "runtime/tuning/report/tune_figures.hpp"
#include "runtime/tuning/store/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace jitgemm::tuning {
namespace {

constexpr std::string_view kNone = "–";
constexpr std::size_t kShownReadings = 1000;  // more than a chart has pixels for
constexpr std::size_t kFewProblems = 20;      // each may have its own bar and row of marks
constexpr std::size_t kWorst = 10;
constexpr std::string_view kHeuristic = "the heuristic's kernel";
constexpr std::string_view kCublasltName = "cuBLASLt";

std::string number(std::optional<double> value, int decimals) {
    return value ? fmt::format("{:.{}f}", *value, decimals) : std::string(kNone);
}

std::optional<double> known(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

/// Of the speed-ups there are.
std::optional<double> geometric_mean(std::span<const ProblemFigures> problems,
                                     std::optional<double> (ProblemFigures::*speedup)() const) {
    double logs = 0;
    int count = 0;
    for (const ProblemFigures& problem : problems)
        if (const auto value = (problem.*speedup)()) logs += std::log(*value), ++count;
    return count > 0 ? std::optional(std::exp(logs / count)) : std::nullopt;
}

std::string heading(const TuneReport& report, std::span<const ProblemFigures> problems) {
    std::size_t tried = 0;
    std::size_t timed = 0;
    std::size_t failed = 0;
    for (const ProblemFigures& problem : problems) {
        tried += problem.tried;
        timed += problem.timed.size();
        failed += problem.failed;
    }
    const Versions& versions = report.device.versions;
    const auto version = [](int number) { return fmt::format("{}.{}", number / 10, number % 10); };
    std::string html =
        fmt::format("<h1>Tuned for {}</h1>\n<p class=\"muted\">{}; jitgemm {}, NVRTC {}, driver {}</p>\n",
                    escape_markup(report.device.model.name), escape_markup(device_class(report.device)),
                    escape_markup(versions.jitgemm), version(versions.nvrtc), version(versions.driver));
    const auto with_time = std::ranges::count_if(problems, [](const ProblemFigures& one) { return one.best_us > 0; });
    html += "<dl>\n" + page_fact("problems with a time", fmt::format("{} of {}", with_time, problems.size())) +
            page_fact("candidates timed", fmt::format("{} of {}", timed, tried)) +
            page_fact("candidates failed", fmt::format("{} of {}", failed, tried)) +
            page_fact("over the heuristic", number(geometric_mean(problems, &ProblemFigures::over_heuristic), 3)) +
            page_fact("over cuBLASLt", number(geometric_mean(problems, &ProblemFigures::over_cublaslt), 3));
    return html + "</dl>\n<p class=\"muted\">Speed-ups are geometric means.</p>\n";
}

std::string winner_row(const ProblemFigures& problem) {
    const auto cell = [](const std::string& text) { return fmt::format("<td>{}</td>", escape_markup(text)); };
    const auto tflops = problem.best_us > 0 ? std::optional(flops(problem.spec) / problem.best_us / 1e6) : std::nullopt;
    return "<tr>" + cell(shape_line(problem.spec)) + cell(number(known(problem.best_us), 2)) + cell(number(tflops, 1)) +
           cell(number(problem.over_heuristic(), 3)) + cell(number(problem.over_cublaslt(), 3)) +
           cell(fmt::format("{} of {}", problem.timed.size(), problem.tried)) + cell(problem.complete ? "yes" : "no") +
           (problem.kernel.empty()
                ? fmt::format("<td class=\"why\">{}</td></tr>\n", escape_markup(problem.untimed_reason))
                : fmt::format("<td class=\"why\"><code>{}</code></td></tr>\n", escape_markup(problem.kernel)));
}

std::string winners(std::span<const ProblemFigures> problems, std::string_view title) {
    if (problems.empty()) return {};
    std::string html = fmt::format("<h2>{}</h2>\n", title) +
                       "<figure><table>\n<tr><th>problem</th><th>µs</th><th>TFLOP/s</th><th>over heuristic</th>"
                       "<th>over cuBLASLt</th><th>timed</th><th>complete</th><th class=\"why\">kernel, or why there is "
                       "none</th></tr>\n";
    for (const ProblemFigures& problem : problems) html += winner_row(problem);
    return html + "</table></figure>\n";
}

std::string section(std::string_view title, const std::string& note, const std::string& figures) {
    if (figures.empty()) return {};
    return fmt::format("<h2>{}</h2>\n<p class=\"muted\">{}</p>\n<div class=\"side\">\n{}</div>\n", escape_markup(title),
                       escape_markup(note), figures);
}

/// Against which a winner is compared: cuBLASLt where any problem was timed beside it.
bool beside_cublaslt(const std::vector<ProblemFigures>& problems) {
    return std::ranges::any_of(problems, [](const ProblemFigures& one) { return one.over_cublaslt().has_value(); });
}

/// Charts of all problems: how far jitgemm is ahead or behind, and how near it comes to the GPU's peak.
std::string summary(const TuneReport& report, const std::vector<ProblemFigures>& problems) {
    const bool peer = beside_cublaslt(problems);
    std::string charts = spread_chart(problems, &ProblemFigures::over_heuristic, kHeuristic);
    if (peer) charts += spread_chart(problems, &ProblemFigures::over_cublaslt, kCublasltName);
    charts += winners_roofline(problems, report.device.model);
    std::string html =
        section("Summary", "The spread of the speed-ups, and the winners against the GPU's limits.", charts);
    const Speedup speedup = peer ? &ProblemFigures::over_cublaslt : &ProblemFigures::over_heuristic;
    if (problems.size() > kFewProblems)
        html += winners(worst(problems, speedup, kWorst),
                        fmt::format("The {} lowest over {}", kWorst, peer ? kCublasltName : kHeuristic));
    return html;
}

/// A bar per problem, while they fit a screen.
std::string speedups(const std::vector<ProblemFigures>& problems) {
    if (problems.size() > kFewProblems) return {};
    std::string charts = speedup_chart(problems, &ProblemFigures::over_heuristic, kHeuristic);
    if (beside_cublaslt(problems)) charts += speedup_chart(problems, &ProblemFigures::over_cublaslt, kCublasltName);
    return section("Each problem", "Longer bars are faster. At the line, both are equal.", charts);
}

/// Rows of marks, folded away where they would fill screens.
std::string distribution(const std::vector<ProblemFigures>& problems) {
    std::string chart = distribution_chart(problems);
    if (problems.size() <= kFewProblems || chart.empty()) return chart;
    return fmt::format("<details><summary>Times of all candidates of {} problems</summary>\n{}</details>\n",
                       problems.size(), chart);
}

std::string effects(const std::vector<ProblemFigures>& problems) {
    std::string charts;
    for (const ParameterEffect& effect : parameter_effects(problems)) charts += effect_chart(effect);
    return charts.empty() ? charts : effect_legend() + charts;
}

std::string failures(const std::vector<ProblemRecord>& problems) {
    const std::vector<FailureGroup> groups = failure_groups(problems);
    if (groups.empty()) return "<h2>Failures</h2>\n<p>None.</p>\n";
    std::string html =
        "<h2>Failures</h2>\n<figure><table>\n<tr><th>verdict</th><th class=\"why\">reason</th><th "
        "class=\"why\">kernel, for example</th>"
        "<th>candidates</th></tr>\n";
    for (const FailureGroup& group : groups)
        html += fmt::format(
            "<tr><td>{}</td><td class=\"why\">{}</td><td class=\"why name\"><code>{}</code></td><td>{}</td></tr>\n",
            to_string(group.verdict), escape_markup(group.reason), escape_markup(group.example), group.count);
    return html + "</table></figure>\n";
}

/// Every so-manieth, evenly.
std::vector<DeviceReading> thinned(const std::vector<DeviceReading>& readings) {
    const std::size_t step = readings.size() / kShownReadings + 1;
    std::vector<DeviceReading> shown;
    for (std::size_t i = 0; i < readings.size(); i += step) shown.push_back(readings[i]);
    return shown;
}

constexpr std::string_view kTuneCss = "td.why{min-width:30em;overflow-wrap:anywhere}\n";

}  // namespace

std::string tune_page(const TuneReport& report) {
    std::vector<ProblemFigures> problems;
    for (const ProblemRecord& problem : report.problems) problems.push_back(figures_of(problem));
    const std::string body =
        heading(report, problems) + summary(report, problems) + speedups(problems) + winners(problems, "Winners") +
        section("Candidates", "The other candidates' times, and the cost model's predictions of them.",
                distribution(problems) + prediction_chart(problems, time_source(device_class(report.device)))) +
        section("What matters",
                "Time relative to the problem's best, as geometric means over problems; parameters that cost most when "
                "wrong come first.",
                effects(problems)) +
        failures(report.problems) +
        section("The device", "NVML's readings between rounds.",
                readings_chart(thinned(reading_sequence(report.problems))));
    return html_page(fmt::format("Tuned for {}", report.device.model.name), body, kTuneCss);
}

}  // namespace jitgemm::tuning
