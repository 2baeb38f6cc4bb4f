#include "runtime/cli/ladder/report.hpp"

#include "generator/base/line_diff.hpp"
#include "generator/base/round_up.hpp"
#include "generator/draw/html_page.hpp"
#include "generator/draw/markup.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/ladder/charts.hpp"

#include <fmt/format.h>

#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kContext = 3;  // lines around a change
constexpr std::string_view kNone = "–";
constexpr double kNoteworthyPadding = 1.05;

constexpr std::string_view kLadderCss = R"css(
pre{margin:8px 0;padding:10px 12px;overflow-x:auto}
pre{background:var(--panel);border-radius:8px;line-height:1.4;font-size:13px}
pre span{display:block;min-width:max-content}
.add{background:var(--c2);color:var(--ink)}
.del{background:var(--c3);color:var(--ink)}
.cut{color:var(--muted)}
.rung{border-top:1px solid var(--line)}
.rung h2{margin-top:28px}
)css";

std::string cell(const std::string& text) { return fmt::format("<td>{}</td>", escape_markup(text)); }

std::string number(std::optional<double> value, int decimals) {
    return value ? fmt::format("{:.{}f}", *value, decimals) : std::string(kNone);
}

std::string percent(std::optional<double> share) {
    return share ? fmt::format("{:.1f} %", 100 * *share) : std::string(kNone);
}

std::string count(std::uint64_t value) { return value == 0 ? std::string(kNone) : std::to_string(value); }

/// A figure of a rung by its name: a cell of the table, a fact of its section.
struct Figure {
    std::string name;
    std::string text;
};

void add_times(std::vector<Figure>& figures, const LadderReport& report, const RungReport& rung) {
    const std::string mark = rung.time && rung.time->extrapolated ? "≈ " : "";
    figures.push_back({"time, µs", rung.time ? mark + microseconds_text(rung.time->median_us) : std::string(kNone)});
    const auto speed = tflops_of(report, rung);
    figures.push_back({"TFLOP/s", speed ? tflops_text(*speed) : std::string(kNone)});
    figures.push_back({"of cuBLASLt", percent(share_of_peer(rung))});
    figures.push_back({"of peak", percent(share_of_peak(report, rung))});
}

void add_counts(std::vector<Figure>& figures, const RungReport& rung) {
    const RungCounts counts = rung.counts.value_or(RungCounts{});
    figures.push_back({"instructions", count(counts.instructions)});
    figures.push_back({"sectors", count(counts.sectors)});
    figures.push_back({"wavefronts", count(counts.wavefronts)});
    figures.push_back({"tensor operations", count(counts.tensor_operations)});
}

std::vector<Figure> figures_of(const LadderReport& report, const RungReport& rung) {
    std::vector<Figure> figures;
    if (report.emulated)
        add_counts(figures, rung);
    else
        add_times(figures, report, rung);
    const RungKernel kernel = rung.kernel.value_or(RungKernel{});
    figures.push_back({"flop per byte", number(kernel_intensity(report, rung), 2)});
    figures.push_back({"global MB", rung.kernel ? number(kernel.global_bytes / 1e6, 1) : std::string(kNone)});
    figures.push_back({"bank conflicts", kernel.conflicts ? number(kernel.conflicts, 2) + "×" : std::string(kNone)});
    figures.push_back({"shared bytes", count(static_cast<std::uint64_t>(kernel.shared_bytes))});
    figures.push_back({"registers", count(static_cast<std::uint64_t>(kernel.registers))});
    return figures;
}

std::string table_row(const LadderReport& report, std::size_t index) {
    const RungReport& rung = report.rungs[index];
    std::string row = fmt::format("<tr><td>{0}</td><td>{1}</td><td>{2}</td>", index, escape_markup(rung.rung.name),
                                  to_string(rung.status));
    for (const Figure& figure : figures_of(report, rung)) row += cell(figure.text);
    return row + "</tr>\n";
}

std::string table(const LadderReport& report) {
    if (report.rungs.empty()) return {};
    std::string html = "<figure><table>\n<tr><th>#</th><th>rung</th><th>status</th>";
    for (const Figure& figure : figures_of(report, report.rungs.front()))
        html += fmt::format("<th>{}</th>", escape_markup(figure.name));
    html += "</tr>\n";
    for (std::size_t i = 0; i < report.rungs.size(); ++i) html += table_row(report, i);
    return html + "</table></figure>\n";
}

// ---- sources --------------------------------------------------------------------------------------------------------

std::string diff_line(const DiffLine& line) {
    const char* const classes = line.change == LineChange::added     ? " class=\"add\""
                                : line.change == LineChange::removed ? " class=\"del\""
                                                                     : "";
    const char sign = line.change == LineChange::added ? '+' : line.change == LineChange::removed ? '-' : ' ';
    return fmt::format("<span{}>{} {}</span>", classes, sign, escape_markup(line.text));
}

std::string diff_html(const std::string& before, const std::string& after) {
    std::string html = "<pre>";
    bool first = true;
    for (const std::vector<DiffLine>& hunk : changed_hunks(line_diff(before, after), kContext)) {
        if (!first) html += "<span class=\"cut\">  …</span>";
        first = false;
        for (const DiffLine& line : hunk) html += diff_line(line);
    }
    return html + (first ? "<span class=\"cut\">no line differs</span>" : "") + "</pre>\n";
}

std::string source_html(const std::string& body) {
    std::string html = "<pre>";
    for (const std::string_view line : lines_of(body)) html += fmt::format("<span>{} </span>", escape_markup(line));
    return html + "</pre>\n";
}

std::string folded(const std::string& summary, const std::string& content) {
    return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape_markup(summary), content);
}

/// The nearest rung below that has a kernel of its own.
const RungReport* rung_before(const LadderReport& report, std::size_t index) {
    while (index-- > 0)
        if (report.rungs[index].kernel && !report.rungs[index].same_as) return &report.rungs[index];
    return nullptr;
}

std::string sources(const LadderReport& report, std::size_t index) {
    const RungReport& rung = report.rungs[index];
    if (!rung.kernel || rung.same_as) return {};
    std::string html;
    if (const RungReport* before = rung_before(report, index))
        html += folded(fmt::format("What changed in the source against “{}”", before->rung.name),
                       diff_html(before->kernel->body, rung.kernel->body));
    return html + folded(fmt::format("The generated source, {} lines", lines_of(rung.kernel->body).size()),
                         source_html(rung.kernel->body));
}

// ---- sections -------------------------------------------------------------------------------------------------------

std::string facts(const std::vector<Figure>& figures) {
    std::string html = "<dl>\n";
    for (const Figure& figure : figures) html += page_fact(figure.name, figure.text);
    return html + "</dl>\n";
}

/// Elements that the tiles cover, per element of D.
double covered(const GemmSpec& spec, TileShape block) {
    const auto whole = [](std::int64_t extent, int tile) {
        return static_cast<double>(ceil_div(extent, std::int64_t{tile}) * tile) / static_cast<double>(extent);
    };
    return spec.m > 0 && spec.n > 0 && block.m > 0 && block.n > 0 ? whole(spec.m, block.m) * whole(spec.n, block.n) : 1;
}

/// Why a rung may count more than one below it: what its tiles compute beyond the matrices' edges is work, too.
std::string padding_text(const LadderReport& report, const RungKernel& kernel) {
    const double ratio = covered(problem_of(report.spec).row_major(), kernel.tile);
    if (ratio < kNoteworthyPadding) return {};
    return fmt::format(
        "<p>Its tiles of {}×{} cover {:.2f} times the elements of D. At this size it does work that is thrown away; "
        "smaller tiles would do less.</p>\n",
        kernel.tile.m, kernel.tile.n, ratio);
}

std::string remarks(const LadderReport& report, const RungReport& rung) {
    std::string html;
    if (rung.same_as)
        html += fmt::format("<p>It is the kernel of rung {}, {}.</p>\n", *rung.same_as,
                            escape_markup(report.rungs[*rung.same_as].rung.name));
    if (!rung.reason.empty())
        html += fmt::format("<p><b>{}</b> {}</p>\n", rung.status == RungStatus::ok ? "" : to_string(rung.status),
                            escape_markup(rung.reason));
    if (rung.kernel) html += padding_text(report, *rung.kernel);
    if (rung.kernel) html += fmt::format("<p class=\"name\"><code>{}</code></p>\n", escape_markup(rung.kernel->name));
    if (!rung.command.empty())
        html += fmt::format("<p class=\"name muted\"><code>{}</code></p>\n", escape_markup(rung.command));
    return html;
}

std::string section(const LadderReport& report, std::size_t index) {
    const RungReport& rung = report.rungs[index];
    return fmt::format("<section class=\"rung\">\n<h2>{0} {1}</h2>\n<p>{2}</p>\n", index, escape_markup(rung.rung.name),
                       escape_markup(rung.rung.sentence)) +
           remarks(report, rung) + (rung.time || rung.kernel ? facts(figures_of(report, rung)) : "") +
           sources(report, index) + "</section>\n";
}

std::string peer_text(const LadderReport& report) {
    if (report.emulated) return "Run on the emulator: counts of one launch in place of times.";
    if (!report.peer.microseconds) return fmt::format("No cuBLASLt to compare with: {}", report.peer.reason);
    return fmt::format("cuBLASLt's best, verified: {} µs, {} TFLOP/s ({}).",
                       microseconds_text(*report.peer.microseconds),
                       tflops_text(tflops(report.spec, *report.peer.microseconds)), report.peer.algorithm);
}

std::string heading(const LadderReport& report) {
    const Roofline line = report.roofline_of(MathUnit::fp32_cores);
    return fmt::format(
        "<h1>The ladder: {}×{}×{}, {} {}</h1>\n<p class=\"muted\">{}. {:.3f} GFLOP; A, B and D are {:.1f} MB, so "
        "{:.1f} "
        "flop per byte at best. {}</p>\n",
        report.spec.m, report.spec.n, report.spec.k, type_name(report.spec), to_string(report.spec.layout),
        escape_markup(device_text(report)), line.flops / 1e9, line.bytes / 1e6, line.intensity,
        escape_markup(peer_text(report)));
}

std::string legend(const LadderReport& report) {
    return fmt::format(
        "<p class=\"muted\">“global MB” are the bytes that the warps of a launch request from global memory, {}. “flop "
        "per byte” is computed from them. Bank conflicts are wavefronts of shared memory over the least possible "
        "number.</p>\n",
        report.emulated ? "counted in sectors of 32 bytes" : "computed from the tiles");
}

}  // namespace

std::string ladder_page(const LadderReport& report) {
    std::string body = heading(report) + "<div class=\"side\">\n" + ladder_bars(report) + ladder_roofline(report) +
                       "</div>\n" + ladder_legend(report) + table(report) + legend(report);
    for (std::size_t i = 0; i < report.rungs.size(); ++i) body += section(report, i);
    return html_page(fmt::format("The ladder: {}", shape_text(report.spec)), body, kLadderCss);
}

}  // namespace jitgemm::cli
