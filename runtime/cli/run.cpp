#include "generator/generate.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/kernel_info.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/arrays.hpp"
#include "runtime/cli/device_choice.hpp"
#include "runtime/cli/device_context.hpp"
#include "runtime/cli/emulated_run.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/measurement.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/report.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/emulator_device/emulator_device.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm::cli {
namespace {

struct RunOptions {
    ProblemOptions problem;
    MeasurementOptions measurement;
    ArrayFiles arrays;
    std::string source;    ///< an edited dump; empty: the text is generated
    bool profile = false;  ///< print what the emulator counts
};

/// The run's input. It is read before a device is touched, so that bad input is reported first.
struct Job {
    ProblemRequest request;
    std::optional<ArrayProblem> arrays;
    std::optional<ParsedDump> dump;
};

Job job_of_dump(const RunOptions& options) {
    static constexpr std::array<std::string_view, 6> kAllowed{"alpha", "beta",           "device",
                                                              "arch",  "emulator-limit", "templates"};
    if (options.arrays.any()) throw UsageError("--source takes no arrays: leave --a, --b, --c and --out out");
    options.problem.allow_only(kAllowed, "the banner of --source");
    Job job;
    job.dump = parse_dump(file_text(options.source, "dump"));
    job.request = options.problem.problem_over(job.dump->spec);
    return job;
}

Job make_job(const RunOptions& options, Output& output) {
    if (!options.source.empty()) return job_of_dump(options);
    Job job;
    if (options.arrays.any()) {
        job.arrays = read_arrays(options.arrays, options.problem, output);
        job.request = job.arrays->request;
    } else {
        job.request = options.problem.problem();
    }
    return job;
}

GemmKernel make_kernel(Context& context, const Job& job, Output& output) {
    output.progress(fmt::format("{}: choosing a kernel", shape_text(job.request.spec)));
    return job.dump ? state_of(context).build(*job.dump) : context.kernel(job.request.spec);
}

std::string source_file(const GemmKernel& kernel) {
    const std::string& folder = state_of(kernel).kernel->cache_directory;
    return folder.empty() ? std::string() : folder + "/kernel.cu";
}

std::string cache_text(const KernelInfo& info) {
    const char* const when = info.cache == CacheSource::compiled ? "just now" : "when it was made";
    if (info.registers == 0)
        return fmt::format("{}; compiled to PTX in {:.1f} ms {}", to_string(info.cache), info.compile_ms, when);
    const std::string spills =
        info.spill_bytes == 0 ? "no spills" : fmt::format("{} bytes of spills", info.spill_bytes);
    return fmt::format("{}; compiled in {:.1f} ms {}; {} registers, {}", to_string(info.cache), info.compile_ms, when,
                       info.registers, spills);
}

std::string time_text(const GemmSpec& spec, const Measurement& measurement) {
    const Timing& timing = measurement.timing;
    if (timing.median_us == 0) return measurement.verification.ok ? "nothing to launch" : "none";
    if (measurement.estimated) {
        return fmt::format("{:.2f} us estimated, {:.1f} TFLOP/s (docs/emulator.md says how)", timing.median_us,
                           tflops(spec, timing.median_us));
    }
    return fmt::format("{:.2f} us ({:.2f} to {:.2f}), {:.1f} TFLOP/s", timing.median_us, timing.low_us, timing.high_us,
                       tflops(spec, timing.median_us));
}

std::string peer_text(const PeerMeasurement& peer, double own_microseconds) {
    if (!peer.microseconds) return peer.reason;
    const std::string first = peer.first_microseconds ? fmt::format("{:.2f} us", *peer.first_microseconds) : "wrong";
    return fmt::format("{:.2f} us (first choice {}{}{}); speedup {:.3f}", *peer.microseconds, first,
                       peer.way.empty() ? "" : "; best by ", peer.way, *peer.microseconds / own_microseconds);
}

std::string to_text(const Context& context, const GemmKernel& kernel, const Measurement& measurement) {
    const std::string file = source_file(kernel);
    const auto line = [](std::string_view label, std::string_view text) {
        return fmt::format("{:<10} {}\n", label, text);
    };
    std::string text = line("problem", to_string(kernel.spec()));
    text += line("device", measurement.estimated ? context.device_name()
                                                 : fmt::format("{} ({})", context.device_name(), context.arch()));
    text += line("kernel", kernel.info().name);
    text += line("choice", fmt::format("{}: {}", to_string(kernel.info().choice), kernel.info().choice_reason));
    text += line("source", file.empty() ? "not stored: the cache is off or cannot be used" : file);
    text += line("cache", cache_text(kernel.info()));
    text += line("verified",
                 fmt::format("{}: {}", measurement.verification.ok ? "yes" : "NO", measurement.verification.message));
    text += line("time", time_text(kernel.spec(), measurement));
    for (const PeerMeasurement& peer : measurement.peers)
        text += line(peer.name, peer_text(peer, measurement.timing.median_us));
    return text;
}

Json document_of(const Context& context, const GemmKernel& kernel, const Measurement& measurement) {
    const auto row = [&](const PeerMeasurement& peer) { return report_row(kernel, measurement, &peer); };
    Json json = measurement.peers.empty() ? report_row(kernel, measurement, nullptr) : row(measurement.peers.front());
    const std::string file = source_file(kernel);
    json["device"] = context.device_name();
    json["source_file"] = file.empty() ? Json() : Json(file);
    json["verification"] = measurement.verification.message;
    json["warnings"] = kernel.info().warnings;
    json["choice_reason"] = kernel.info().choice_reason;
    json["spec"] = to_json(kernel.spec());
    if (measurement.peers.size() > 1) json["peers"] = json_array(measurement.peers, row);
    return json;
}

/// The environment's settings, the options', and the device they lead to.
Options settings(const RunOptions& options, const Job& job, Output& output) {
    Options settings = options.problem.options();
    settings.emulator_gflop = emulator_limit(options.problem, settings.emulator_gflop);
    settings.device = choose_device(options.problem, job.dump ? job.dump->arch : nullptr, output);
    return settings;
}

bool is_emulator(const Options& settings) { return parse_device_name(settings.device).kind == DeviceKind::emulator; }

/// Refuses options that the emulator can't serve, before anything is compiled.
void check_emulated(const RunOptions& options, const Job& job, const Options& settings) {
    if (const std::vector<std::string> given = options.measurement.given(); !given.empty())
        throw UsageError(fmt::format("{} {} a GPU: the emulator's times are estimates, nothing is measured",
                                     fmt::join(given, ", "), given.size() == 1 ? "needs" : "need"));
    require_emulable(resolved(job.request.spec), settings.emulator_gflop);
}

/// Verification brings inputs of its own: what it says is said of the kernel, not of anyone's arrays.
void tell_inputs(const Job& job, Verification& verification) {
    if (!job.arrays) return;
    verification.message = "the kernel, on inputs of its own in place of the arrays: " + verification.message;
}

int verdict(const Verification& verification, Output& output) {
    if (verification.ok) return kExitFine;
    output.note("jitgemm: the result is wrong");
    return kExitFailed;
}

int run_on_emulator(const RunOptions& options, const Job& job, const Options& settings, Output& output) {
    check_emulated(options, job, settings);
    Context context = open_context(settings, output);
    as_emulator(*state_of(context).device)->set_stop_request(interrupted);
    const GemmKernel kernel = make_kernel(context, job, output);
    if (job.arrays) multiply_arrays(context, kernel, *job.arrays, output);
    EmulatedRun run = run_emulated(state_of(context), kernel, job.request, output);
    tell_inputs(job, run.measurement.verification);

    output.text(to_text(context, kernel, run.measurement));
    if (options.profile) output.text(profile_text(run, kernel));
    Json document = document_of(context, kernel, run.measurement);
    if (options.profile) document["profile"] = profile_json(run, kernel);
    output.document(document);
    return verdict(run.measurement.verification, output);
}

int run_on_gpu(const RunOptions& options, const Job& job, const Options& settings, Output& output) {
    if (options.profile) throw UsageError("--profile needs the emulator: add --device emulator (on a GPU, use ncu)");
    const TimingOptions timing = options.measurement.timing(job.request);
    Context context = open_context(settings, output);
    const Peers peers = open_peers(options.measurement.against, state_of(context));

    const GemmKernel kernel = make_kernel(context, job, output);
    if (job.arrays) multiply_arrays(context, kernel, *job.arrays, output);
    Measurement measurement = measure(state_of(context), kernel, peers, job.request, timing, output);
    tell_inputs(job, measurement.verification);

    output.text(to_text(context, kernel, measurement));
    output.document(document_of(context, kernel, measurement));
    return verdict(measurement.verification, output);
}

int run(const RunOptions& options, Output& output) {
    const Job job = make_job(options, output);
    static_cast<void>(options.measurement.timing(job.request));  // complains before a device is touched
    const Options chosen = settings(options, job, output);
    return is_emulator(chosen) ? run_on_emulator(options, job, chosen, output)
                               : run_on_gpu(options, job, chosen, output);
}

}  // namespace

Action declare_run(CLI::App& app) {
    auto options = std::make_shared<RunOptions>();
    options->problem.declare_problem(app);
    options->problem.declare_selection(app);
    options->problem.declare_any_device(app, "auto");
    options->arrays.declare(app);
    options->measurement.declare(app);
    app.add_option("--source", options->source,
                   "Compile this edited dump; the problem and the config come from its banner")
        ->type_name("FILE.cu");
    app.add_flag("--profile", options->profile, "Print the emulator's counters: instructions, sectors, wavefronts ...");
    return [options](Output& output) { return run(*options, output); };
}

}  // namespace jitgemm::cli
