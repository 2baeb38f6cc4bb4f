#include "generator/base/served_types.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/device_choice.hpp"
#include "runtime/cli/device_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/ladder/climb.hpp"
#include "runtime/cli/ladder/report.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace jitgemm::cli {
namespace {

constexpr std::int64_t kGpuExtent = 4096;      // of m, n and k that nobody named
constexpr std::int64_t kEmulatorExtent = 256;  // seconds per rung

struct LadderOptions {
    ProblemOptions problem;
    ClimbOptions climb;
    std::string html;
};

bool on_emulator(const LadderOptions& options) {
    const auto device = options.problem.text("device");
    return device && device->starts_with("emulator");
}

/// Defaults for options that nobody gave: f32, row-major throughout (as in most lessons), a size that takes seconds.
void set_usual_defaults(ProblemOptions& problem, std::int64_t extent) {
    if (!problem.given("a-type")) problem.set_default("type", "f32");
    problem.set_default("layout", "tt");
    for (const char* size : {"m", "n", "k"}) problem.set_default(size, std::to_string(extent));
}

void check_limits(const ClimbOptions& climb) {
    if (!std::isfinite(climb.cpu_limit_seconds) || climb.cpu_limit_seconds < 0)
        throw UsageError(
            fmt::format("--cpu-limit is {}: expected seconds, 0 to skip the CPU loop", climb.cpu_limit_seconds));
    if (climb.rounds < 1) throw UsageError(fmt::format("--rounds is {}: it must be at least 1", climb.rounds));
}

void check_problem(const GemmSpec& spec) {
    std::vector<std::string> reasons = unserved_types(spec);
    for (const auto& [name, size] : {std::pair{"m", spec.m}, {"n", spec.n}, {"k", spec.k}})
        if (size < 1) reasons.push_back(fmt::format("{} is {}: a ladder needs something to compute", name, size));
    if (spec.a != spec.b)
        reasons.push_back(
            fmt::format("A is {} and B {}: a ladder has one type for both", to_string(spec.a), to_string(spec.b)));
    if (!reasons.empty()) throw UsageError("no ladder for this problem", reasons);
    static_cast<void>(ladder_rungs(spec.a));
}

LadderReport empty_report(const ProblemRequest& request, Context& context) {
    LadderReport report;
    report.spec = resolved(request.spec);
    report.alpha = request.alpha;
    report.beta = request.beta;
    report.device = context.device_name();
    report.gpu = state_of(context).device->model();
    report.emulated = state_of(context).device->kind() == DeviceKind::emulator;
    return report;
}

int verdict(const LadderReport& report) {
    if (report.interrupted) return kExitInterrupted;
    const bool failed = std::ranges::any_of(report.rungs, [](const RungReport& rung) {
        return rung.status == RungStatus::wrong || rung.status == RungStatus::failed;
    });
    return failed ? kExitFailed : kExitFine;
}

/// A page of half a ladder is none.
void write_page(const LadderReport& report, const std::string& file, Output& output) {
    if (report.interrupted) return output.note(fmt::format("jitgemm: interrupted: {} is not written", file));
    write_output_file(file, ladder_page(report));
    output.text(fmt::format("page: {}\n", file));
}

int run_ladder(LadderOptions& options, Output& output) {
    options.problem.set_default("device", tool_options().device);
    set_usual_defaults(options.problem, on_emulator(options) ? kEmulatorExtent : kGpuExtent);
    const ProblemRequest request = options.problem.problem();
    check_problem(request.spec);
    check_limits(options.climb);
    check_output_file("html", options.html);
    Options settings = options.problem.options();
    settings.emulator_gflop = emulator_limit(options.problem, settings.emulator_gflop);
    settings.device = choose_device(options.problem, nullptr, output);
    if (on_emulator(options)) require_emulable(resolved(request.spec), settings.emulator_gflop);

    Context context = open_context(settings, output);
    if (EmulatorDevice* const emulator = as_emulator(*state_of(context).device))
        emulator->set_stop_request(interrupted);
    LadderReport report = empty_report(request, context);
    const auto begun = [&](const LadderReport& so_far) { output.text(ladder_heading(so_far)); };
    const auto done = [&](const LadderReport& so_far, std::size_t rung) {
        output.text(ladder_row(so_far, rung));
        std::fflush(stdout);
    };
    climb(state_of(context), request, options.climb, output, begun, done, report);
    output.text(ladder_footing(report));
    if (!options.html.empty()) write_page(report, options.html, output);
    output.document(ladder_document(report));
    return verdict(report);
}

}  // namespace

Action declare_ladder(CLI::App& app) {
    auto options = std::make_shared<LadderOptions>();
    options->problem.declare_problem(app);
    options->problem.declare_any_device(app, "cuda");
    app.add_option("--html", options->html,
                   "Write an HTML page, too: charts, and for each rung its source and its change")
        ->type_name("FILE");
    app.add_option("--cpu-limit", options->climb.cpu_limit_seconds,
                   "Time limit of the CPU loop in seconds, 0 to skip it; the rest is extrapolated")
        ->capture_default_str()
        ->type_name("");
    app.add_option("--rounds", options->climb.rounds, "Number of timing rounds of a kernel; the result is their median")
        ->capture_default_str()
        ->type_name("");
    return [options](Output& output) { return run_ladder(*options, output); };
}

}  // namespace jitgemm::cli
