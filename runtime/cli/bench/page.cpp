#include "runtime/cli/bench/page.hpp"

#include "generator/draw/bar_chart.hpp"
#include "generator/draw/html_page.hpp"
#include "generator/draw/markup.hpp"
#include "runtime/cli/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::string_view kNone = "–";
constexpr int kAhead = 0;  // of the palette
constexpr int kBehind = 1;

using Rows = std::vector<const Json*>;

std::optional<double> number_of(const Json& row, const char* field) {
    const Json& value = row.at(field);
    return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

std::string number(const Json& row, const char* field, int decimals) {
    const std::optional<double> value = number_of(row, field);
    return value ? fmt::format("{:.{}f}", *value, decimals) : std::string(kNone);
}

std::string problem_of(const Json& row) {
    const std::string epilogue = row_text(row, "epilogue");
    return fmt::format("{} {} {} {} {}{}{}", row_text(row, "type"), row_text(row, "layout"),
                       row.at("m").get<std::int64_t>(), row.at("n").get<std::int64_t>(),
                       row.at("k").get<std::int64_t>(), epilogue.empty() ? "" : ", ", epilogue);
}

double speedup_of(const Json* row) { return number_of(*row, "speedup").value(); }

/// Those with a figure, the slowest first.
Rows compared_with(const Json& rows, const std::string& peer) {
    Rows compared;
    for (const Json& row : rows)
        if (row_text(row, "peer") == peer && number_of(row, "speedup")) compared.push_back(&row);
    std::ranges::sort(compared, {}, [](const Json* row) { return std::pair(speedup_of(row), row); });
    return compared;
}

std::string facts(const Rows& rows, double geometric_mean) {
    const auto behind = std::ranges::count_if(rows, [](const Json* row) { return speedup_of(row) < 1; });
    return "<dl>\n" + page_fact("problems", std::to_string(rows.size())) +
           page_fact("geometric mean", fmt::format("{:.3f}×", geometric_mean)) +
           page_fact("slower", std::to_string(behind)) +
           page_fact("lowest", fmt::format("{:.2f}×, {}", speedup_of(rows.front()), problem_of(*rows.front()))) +
           page_fact("highest", fmt::format("{:.2f}×, {}", speedup_of(rows.back()), problem_of(*rows.back()))) +
           "</dl>\n";
}

std::string chart(const Rows& rows, const std::string& peer) {
    std::vector<Bar> bars;
    for (const Json* row : rows)
        bars.push_back({problem_of(*row), speedup_of(row), fmt::format("{:.2f}", speedup_of(row)),
                        fmt::format("{} µs, {} {} µs\n{}", number(*row, "microseconds", 2), peer,
                                    number(*row, "peer_microseconds", 2), row_text(*row, "kernel")),
                        speedup_of(row) < 1 ? kBehind : kAhead});
    return bar_chart(fmt::format("Speed over {}'s best", peer), fmt::format("times the speed of {}", peer), bars,
                     Bar{"equal", 1.0, "", "", 0}, BarScale::linear);
}

std::string against(const Json& document, const std::string& peer, double geometric_mean) {
    const Rows rows = compared_with(document.at("rows"), peer);
    return fmt::format("<h2>Against {}</h2>\n", escape_markup(peer)) + facts(rows, geometric_mean) + chart(rows, peer);
}

std::string table_row(const Json& row) {
    const std::string status = row_text(row, "status");
    std::string html = "<tr>";
    for (const std::string& cell :
         {problem_of(row), peer_title(row), status, number(row, "microseconds", 2), number(row, "tflops", 1),
          number(row, "peer_first_microseconds", 2), number(row, "peer_microseconds", 2), number(row, "speedup", 3)})
        html += fmt::format("<td>{}</td>", escape_markup(cell));
    const std::string why = status == "ok" ? row_text(row, "peer_reason") : row_text(row, "reason");
    return html + fmt::format("<td class=\"why\"><code>{}</code> {}</td></tr>\n",
                              escape_markup(row_text(row, "kernel")), escape_markup(why));
}

std::string table(const Json& rows) {
    std::string html =
        "<h2>All rows</h2>\n<figure><table>\n<tr><th>problem</th><th>peer</th><th>status</th><th>µs</th>"
        "<th>TFLOP/s</th><th>peer's first, µs</th><th>best, µs</th><th>speed over it</th>"
        "<th class=\"why\">kernel</th></tr>\n";
    for (const Json& row : rows) html += table_row(row);
    return html + "</table></figure>\n";
}

}  // namespace

std::string bench_page(const Json& document) {
    const std::string device = document.at("device").get<std::string>();
    std::string body = fmt::format(
        "<h1>Bench on {}</h1>\n<p class=\"muted\">Protocol {}; every result verified. Medians of rounds in which both "
        "sides take turns.{}</p>\n",
        escape_markup(device), document.at("protocol").get<std::string>(),
        document.at("interrupted").get<bool>() ? " Interrupted: not all problems are here." : "");
    for (const auto& [peer, mean] : document.at("summary").at("geomean_speedup").items())
        body += against(document, peer, mean.get<double>());
    return html_page("Bench on " + device, body + table(document.at("rows")));
}

}  // namespace jitgemm::cli
