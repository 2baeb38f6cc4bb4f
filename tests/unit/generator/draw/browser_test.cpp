// Opens pages and pictures in a headless browser, as readers do: from disk, with nothing else to load.

#include "generator/draw/kernel_page.hpp"
#include "generator/draw/picture.hpp"
#include "generator/heuristics.hpp"
#include "runtime/cli/ladder/report.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/tuning/report/tune_report.hpp"
#include "tests/catch.hpp"
#include "tests/support/ladder_reports.hpp"
#include "tests/support/markup_check.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tune_reports.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The browser's command, or empty.
std::string browser() {
    for (const std::string name : {"chromium", "chromium-browser", "google-chrome"}) {
        if (std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0) return name;  // NOLINT: looks it up
    }
    return {};
}

/// The result of a visit to a file: the document after its scripts ran, or a screenshot, and the browser's log.
struct Visit {
    int status = 0;
    std::string out;
    std::string log;
};

Visit visit(const TemporaryFolder& folder, const std::string& file, const std::string& options) {
    const std::string command = fmt::format(
        "cd '{0}' && timeout 120 {1} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars "
        "--no-first-run --disable-background-networking --disable-component-update --disable-sync "
        "--host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir='{0}/profile' --enable-logging=stderr --v=0 {2} "
        "'file://{0}/{3}' >out 2>log </dev/null",
        folder.path(), browser(), options, file);
    const int status = std::system(command.c_str());  // NOLINT(bugprone-command-processor): a browser is a command
    return {status, text_in(folder / "out"), text_in(folder / "log")};
}

/// A picture of the file in light or dark; nothing may have been said on the console.
void check_screenshot(const TemporaryFolder& folder, const std::string& file, bool dark) {
    const std::string scheme =
        dark ? "--blink-settings=preferredColorScheme=0" : "--blink-settings=preferredColorScheme=1";
    const Visit shot = visit(folder, file, scheme + " --window-size=1200,2400 --screenshot=shot.png");
    INFO(file << "\n" << shot.log);
    CHECK(shot.status == 0);
    CHECK(shot.log.find("CONSOLE") == std::string::npos);
    const std::string png = text_in(folder / "shot.png");
    CHECK(png.starts_with("\x89PNG"));
    CHECK(png.size() > 20000);  // an empty page is a quarter of that
}

/// Goes before everything else of a page: counts what goes wrong, then points at an element and notes what is shown.
constexpr const char* kListener = R"html(<script>
var faults = [];
addEventListener('error', function (e) { faults.push('error ' + (e.message || e.target.tagName)); }, true);
addEventListener('securitypolicyviolation', function (e) { faults.push('blocked ' + e.blockedURI); });
addEventListener('unhandledrejection', function (e) { faults.push('rejected ' + e.reason); });
console.error = console.warn = function (text) { faults.push('console ' + text); };
addEventListener('load', function () {
  document.querySelectorAll('details').forEach(function (e) { e.open = true; });
  var cell = document.querySelector('[data-k="T5"]') || document.querySelector('[data-k="naive"]') ||
             document.querySelector('[data-k]');
  cell.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 50, clientY: 50}));
  var root = document.documentElement, hint = document.getElementById('hint');
  root.dataset.shown = getComputedStyle(hint).display + ': ' + hint.textContent;
  root.dataset.lit = document.querySelectorAll('.on').length;
  document.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}));
  document.querySelector('h1').dispatchEvent(new PointerEvent('pointermove', {bubbles: true}));
  root.dataset.after = getComputedStyle(hint).display + document.querySelectorAll('.on,.marking').length;
  root.dataset.loaded = performance.getEntriesByType('resource').length;
  root.dataset.wide = root.scrollWidth > innerWidth ? 'too wide' : 'fits';
  root.dataset.faults = faults.length + ' faults ' + faults.join('; ');
});
</script>)html";

/// Opens the page under the listener's eyes, at a desk or on a phone.
void check_page(const TemporaryFolder& folder, const std::string& html, const std::string& hint, int lit, int width) {
    std::string watched = html;
    watched.insert(watched.find("<style>"), kListener);
    put_text(folder / "watched.html", watched);
    const Visit page = visit(folder, "watched.html", fmt::format("--window-size={},900 --dump-dom", width));
    INFO(page.log);
    CHECK(page.status == 0);
    for (const std::string& attribute :
         {std::string("data-faults=\"0 faults \""), std::string("data-loaded=\"0\""), std::string("data-wide=\"fits\""),
          fmt::format("data-shown=\"block: {}\"", hint), fmt::format("data-lit=\"{}\"", lit),
          std::string("data-after=\"none0\"")})
        CHECK_THAT(page.out.substr(0, 600), ContainsSubstring(attribute));
}

Picture small_picture() {
    Grid grid{"C (m, n)", "m", "n", 16, 8, {}};
    for (int i = 0; i < 128; ++i) {
        const int lane = i / 8 % 8 * 4 + i % 8 / 2;
        grid.cells.push_back(
            {{fmt::format("T{}", lane), fmt::format("V{}", i % 2)}, lane, fmt::format("lane {}", lane)});
    }
    return {"An atom", {grid}, {"a note"}};
}

}  // namespace

TEST_CASE("a kernel's page in a browser: no fault, nothing loaded, hints when pointed at") {
    if (browser().empty()) SKIP_TEST("no chromium here");
    const TemporaryFolder folder;
    GemmSpec spec;
    spec.m = spec.n = spec.k = 4096;
    const GpuModel& gpu = find_gpu("a100");
    const std::string html = kernel_page_html(kernel_page(problem_of(spec), choose_config(problem_of(spec), gpu), gpu));
    check_page(folder, html, "lane 5, value 0 (register 0)\n(1, 2) of the atom", 4, 1200);
    check_page(folder, html, "lane 5, value 0 (register 0)\n(1, 2) of the atom", 4, 500);
    put_text(folder / "kernel.html", html);
    check_screenshot(folder, "kernel.html", false);
    check_screenshot(folder, "kernel.html", true);
}

TEST_CASE("a ladder's page in a browser: no fault, nothing loaded, hints of its bars, sources that unfold") {
    if (browser().empty()) SKIP_TEST("no chromium here");
    const TemporaryFolder folder;
    const std::string html = cli::ladder_page(made_up_ladder());
    for (const int width : {1200, 500})
        check_page(folder, html, "1 naive\n5.00 TFLOP/s at 1.00 flop per byte", 1, width);
    put_text(folder / "ladder.html", html);
    for (const bool dark : {false, true}) check_screenshot(folder, "ladder.html", dark);
}

TEST_CASE("a sweep's page in a browser: no fault, nothing loaded, hints of its bars") {
    if (browser().empty()) SKIP_TEST("no chromium here");
    const TemporaryFolder folder;
    const std::string html = tuning::tune_page(made_up_sweep());
    for (const int width : {1200, 500})
        check_page(folder, html, "2 problems at 1.2 to 1.5 times the heuristic's kernel", 1, width);
    put_text(folder / "tuned.html", html);
    for (const bool dark : {false, true}) check_screenshot(folder, "tuned.html", dark);
}

TEST_CASE("a picture in a browser, as a page and as SVG") {
    if (browser().empty()) SKIP_TEST("no chromium here");
    const TemporaryFolder folder;
    check_page(folder, picture_html(small_picture()), "lane 5", 4, 1200);
    put_text(folder / "picture.html", picture_html(small_picture()));
    put_text(folder / "picture.svg", picture_svg(small_picture()));
    for (const bool dark : {false, true}) {
        check_screenshot(folder, "picture.html", dark);
        check_screenshot(folder, "picture.svg", dark);
    }
}

TEST_CASE("the browser test sees a fault: a page that loads something and one that throws") {
    if (browser().empty()) SKIP_TEST("no chromium here");
    const TemporaryFolder folder;
    const std::string good = picture_html(small_picture());
    for (const std::string& bad :
         {std::string("<img src=\"https://example.org/x.png\"/>"), std::string("<script>nothing()</script>")}) {
        std::string html = good;
        html.insert(html.find("</main>"), bad);
        html.insert(html.find("<style>"), kListener);
        put_text(folder / "bad.html", html);
        const Visit page = visit(folder, "bad.html", "--dump-dom");
        CHECK_THAT(page.out.substr(0, 600), !ContainsSubstring("data-faults=\"0 faults"));
    }
}
