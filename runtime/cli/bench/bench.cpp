#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "runtime/cli/bench/page.hpp"
#include "runtime/cli/device_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/measurement.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/report.hpp"
#include "runtime/cli/row_writer.hpp"
#include "runtime/cli/shapes.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::string_view kOutOfMemory = "CUDA_ERROR_OUT_OF_MEMORY";

struct BenchOptions {
    ProblemOptions problem;
    MeasurementOptions measurement;
    std::string shapes;
    std::string csv;
    std::string report;
};

std::vector<ProblemRequest> read_problems(const BenchOptions& options) {
    if (!options.shapes.empty()) return read_shapes(options.shapes, options.problem);
    return {options.problem.problem()};
}

/// Names in the selection that exist nowhere are wrong usage, not a row that nothing serves.
void check_selection(const ProblemOptions& problem) {
    const Selection selection = problem.selection();
    if (selection.kernel) static_cast<void>(parse_kernel_name(*selection.kernel));
    if (selection.family) static_cast<void>(find_family(*selection.family));
}

/// All rows share these.
struct Bench {
    Context context;
    Peers peers;
    const MeasurementOptions& options;
    RowWriter& writer;
    Output& output;
};

void measure_row(Bench& bench, const ProblemRequest& request) {
    const GemmKernel kernel = bench.context.kernel(request.spec);
    const Measurement measurement =
        measure(state_of(bench.context), kernel, bench.peers, request, bench.options.timing(request), bench.output);
    if (measurement.peers.empty()) bench.writer.write(report_row(kernel, measurement, nullptr));
    for (const PeerMeasurement& peer : measurement.peers) bench.writer.write(report_row(kernel, measurement, &peer));
}

/// A row that cannot be measured is a row all the same. An error after which the device answers nothing more ends the
/// run.
void bench_row(Bench& bench, const ProblemRequest& request) {
    const GemmSpec spec = resolved(request.spec);
    const auto give_up = [&](RowStatus status, const Error& error) {
        bench.writer.write(report_row(spec, status, error.what()));
    };
    try {
        measure_row(bench, request);
    } catch (const Interrupted&) {
        throw;
    } catch (const ConfigError& error) {
        give_up(RowStatus::unsupported, error);
    } catch (const CudaError& error) {
        give_up(RowStatus::failed, error);
        if (error.result_name() != kOutOfMemory) throw;
    } catch (const Error& error) {
        give_up(RowStatus::failed, error);
    }
}

void bench_all(Bench& bench, const std::vector<ProblemRequest>& problems) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
        stop_if_interrupted();
        bench.output.progress(fmt::format("[{}/{}] {}", i + 1, problems.size(), shape_text(problems[i].spec)));
        bench_row(bench, problems[i]);
    }
}

/// The summary, and the page; also of what an interruption left.
void finish(const BenchOptions& options, RowWriter& writer, bool interrupted, Output& output) {
    writer.finish(interrupted);
    if (options.report.empty()) return;
    write_output_file(options.report, bench_page(writer.document(interrupted)));
    if (options.csv != "-") output.text(fmt::format("page: {}\n", options.report));
}

/// A GPU alone has times to compare.
void check_device(const ProblemOptions& problem) {
    const std::string device = problem.options().device;
    if (device == "auto") throw UsageError("--device auto is only for run: bench never falls back to the emulator");
    if (parse_device_name(device).kind == DeviceKind::cuda) return;
    throw UsageError(
        "bench needs a GPU: the emulator only estimates times; "
        "'jitgemm run --device emulator --profile' shows its counters");
}

int run_bench(const BenchOptions& options, Output& output) {
    const std::vector<ProblemRequest> problems = read_problems(options);
    static_cast<void>(options.measurement.timing(problems.front()));  // complains before a device is touched
    check_selection(options.problem);
    check_device(options.problem);
    if (options.csv != "-") check_output_file("csv", options.csv);
    check_output_file("report", options.report);
    check_different("report", options.report, "csv", options.csv);
    Context context = open_context(options.problem.options(), output);
    Peers peers = open_peers(options.measurement.against, state_of(context));
    RowWriter writer(output, options.csv, context.device_name(), options.measurement.protocol);
    Bench bench{std::move(context), std::move(peers), options.measurement, writer, output};
    try {
        bench_all(bench, problems);
    } catch (const Interrupted&) {
        finish(options, writer, true, output);
        return kExitInterrupted;
    }
    finish(options, writer, false, output);
    return writer.exit_code();
}

}  // namespace

Action declare_bench(CLI::App& app) {
    auto options = std::make_shared<BenchOptions>();
    options->problem.declare_problem(app);
    options->problem.declare_selection(app);
    options->problem.declare_device(app);
    options->measurement.declare(app);
    app.add_option("--shapes", options->shapes, "Read problems from a file, one per line: TYPE LAYOUT M N K")
        ->type_name("FILE");
    app.add_option("--csv", options->csv, "Write each row to this file as soon as it is measured; - for stdout")
        ->type_name("FILE");
    app.add_option("--report", options->report,
                   "Write an HTML page: speed-up over each peer, problems that lost, all rows")
        ->type_name("FILE");
    return [options](Output& output) { return run_bench(*options, output); };
}

}  // namespace jitgemm::cli
