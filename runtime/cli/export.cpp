#include "runtime/export/export.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/generation.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/verb.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

namespace jitgemm::cli {
namespace {

struct ExportVerbOptions {
    ProblemOptions problem;
    std::string directory;
    ExportOptions exporting;
};

int run_export(const ExportVerbOptions& options, Output& output) {
    if (options.directory.empty()) throw UsageError("-o DIR is missing: name the folder to write into");
    if (options.directory == "-") throw UsageError("--output is '-': expected the name of a folder");
    require_export_folder(options.directory, options.exporting.force);
    const GeneratedKernel kernel = generate_kernel(options.problem, output);
    static_cast<void>(checked_export_name(options.exporting, kernel.problem.asked));  // throws before the compile
    const CompiledKernel compiled =
        compile_kernel(kernel, compile_request(kernel.source), options.problem.options(), output);
    export_kernel(kernel.source, kernel.problem, compiled, options.directory, options.exporting);

    const std::vector<std::string> files = files_in(options.directory);
    output.text(fmt::format("{}\nwritten to {}: {}\n", kernel.source.name, options.directory, fmt::join(files, ", ")));
    output.document({{"kernel", kernel.source.name},
                     {"arch", kernel.source.arch->name},
                     {"spec", to_json(kernel.problem.asked)},
                     {"directory", options.directory},
                     {"files", files}});
    return kExitFine;
}

}  // namespace

Action declare_export(CLI::App& app) {
    auto options = std::make_shared<ExportVerbOptions>();
    options->problem.declare_for_target(app);
    app.add_option("-o,--output", options->directory, "Folder for the cubin, a launcher in C, a header and meta.json")
        ->type_name("DIR");
    app.add_option("--name", options->exporting.name, "Name of the files and functions (default: gemm_TYPE_LAYOUT)")
        ->type_name("NAME");
    app.add_flag("--force", options->exporting.force, "Write into the folder even if it is not empty");
    return [options](Output& output) { return run_export(*options, output); };
}

}  // namespace jitgemm::cli
