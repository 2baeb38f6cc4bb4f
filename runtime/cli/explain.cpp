#include "generator/explain.hpp"
#include "jitgemm/kernel_info.hpp"
#include "jitgemm/options.hpp"

#include "generator/generate.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/explain_report.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/target.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/compiler/nvrtc.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::cli {
namespace {

struct ExplainOptions {
    ProblemOptions problem;
    bool compile = true;
};

MeasuredRegisters measure(const KernelSource& source, const Problem& problem, const Options& options) {
    const std::shared_ptr<Compiler> compiler = compiler_of(options, newest_major_of_machine());
    const auto result = cache_of(options).get_or_compile(compile_request(source), *compiler, dump(source, problem));
    const PtxasReport& report = result.kernel.report;
    return {report.registers, report.spill_bytes(),
            fmt::format("ptxas of NVRTC {}, {}", nvrtc_version_text(result.kernel.nvrtc_version),
                        result.source == CacheSource::disk ? "from the cache" : "compiled now")};
}

/// The first line, without the clause that introduces the next ones: `doctor` lists the searched places.
std::string first_line(const std::string& text) {
    std::string line = text.substr(0, text.find('\n'));
    if (line.ends_with(':')) line.resize(std::min(line.rfind(';'), line.size() - 1));
    return line;
}

/// ptxas's figure where there is a compiler or a stored binary; else why there is none.
void add_registers(ExplainReport& report, const ExplainOptions& options) {
    if (!options.compile) {
        report.no_registers = "--no-compile";
        return;
    }
    const Options settings = options.problem.options();
    const KernelSource source = generate(report.problem(), report.explanation.config, *report.target.gpu.arch,
                                         TemplateSet::from_directory(settings.template_directory));
    try {
        MeasuredRegisters measured = measure(source, report.problem(), settings);
        report.explanation = with_registers(std::move(report.explanation), std::move(measured));
    } catch (const CompileError& error) {
        report.no_registers = first_line(error.what());
    }
}

/// Programs in Python have another way to make pairs of columns (python/jitgemm/_pairs.py).
[[noreturn]] void throw_with_way_out(const ConfigError& error) {
    std::vector<std::string> reasons = error.reasons();
    reasons.emplace_back("in Python, jg.matmul makes these pairs by two products, of the first and the second columns");
    throw ConfigError(first_line(error.what()), std::move(reasons));
}

/// The heuristic's or the caller's choice, or the tuned kernel as if it had been named.
void explain_choice(ExplainReport& report, const ProblemOptions& options) {
    const Problem problem = report.problem();
    Selection selection = options.selection();
    report.explanation = jitgemm::explain(problem, report.target.gpu, selection);
    report.choice = choose_kernel(options, problem, report.target);
    if (report.choice.config == report.explanation.config) return;
    selection.kernel = report.name_of(report.choice.config);
    report.explanation = jitgemm::explain(problem, report.target.gpu, selection);
}

void add_unprepared(ExplainReport& report, const ProblemOptions& options) {
    const Selection selection = options.selection();
    GemmSpec spec = report.problem().requested();
    if (spec.prepared == Prepared::none || selection.kernel) return;
    spec.prepared = Prepared::none;
    const Problem problem = problem_of(spec);
    report.unprepared_us = jitgemm::explain(problem, report.target.gpu, selection).cost.total_us;
}

int explain(const ExplainOptions& options, Output& output) {
    ExplainReport report;
    report.explanation.problem = problem_of(options.problem.problem().spec);
    report.target = choose_target(options.problem);
    try {
        explain_choice(report, options.problem);
    } catch (const ConfigError& error) {
        if (!has_pairs(report.problem().signature) || options.problem.selection().kernel) throw;
        throw_with_way_out(error);
    }
    add_unprepared(report, options.problem);
    add_registers(report, options);
    output.text(to_text(report));
    output.document(to_json(report));
    return kExitFine;
}

}  // namespace

Action declare_explain(CLI::App& app) {
    auto options = std::make_shared<ExplainOptions>();
    options->problem.declare_for_target(app);
    app.add_flag("!--no-compile", options->compile, "Estimate the registers instead of compiling the kernel");
    return [options](Output& output) { return explain(*options, output); };
}

}  // namespace jitgemm::cli
