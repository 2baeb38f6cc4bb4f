#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/generation.hpp"
#include "runtime/cli/kernels/set_options.hpp"
#include "runtime/cli/kernels/verbs.hpp"
#include "runtime/export/export_kernel_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace jitgemm::cli {
namespace {

struct KernelsExportOptions {
    SetOptions set;
    std::string directory;
    ExportOptions exporting;
};

int export_set(KernelsExportOptions& options, Output& output) {
    if (options.directory.empty()) throw UsageError("-o DIR is missing: name the folder to write into");
    if (options.directory == "-") throw UsageError("--output is '-': expected the name of a folder");
    require_export_folder(options.directory, options.exporting.force);
    const auto [set, target] = choose_set(options.set);
    if (target.assumed) output.note(fmt::format("jitgemm: generating for {}", describe(target)));
    static_cast<void>(checked_export_name(options.exporting, set.spec));  // throws before the compiles
    const Options settings = options.set.problem.options();
    const auto compile = [&](const KernelSource& source, const Problem& problem) {
        return compile_kernel({problem, source}, compile_request(source), settings, output);
    };
    export_kernel_set(set, *target.gpu.arch, TemplateSet::from_directory(settings.template_directory), compile,
                      options.directory, options.exporting);

    const std::vector<std::string> files = files_in(options.directory);
    output.text(fmt::format("{}\nwritten to {}: {}\n", counted(static_cast<std::int64_t>(set.body_count()), "kernel"),
                            options.directory, fmt::join(files, ", ")));
    output.document({{"set", Json::parse(to_json(set))},
                     {"arch", target.gpu.arch->name},
                     {"directory", options.directory},
                     {"files", files}});
    return kExitFine;
}

}  // namespace

Action declare_kernels_export(CLI::App& app) {
    auto options = std::make_shared<KernelsExportOptions>();
    options->set.problem.declare_for_target(app);
    options->set.limits.declare(app);
    app.add_option("-o,--output", options->directory, "Folder for the cubins, the dispatcher in C, headers, meta.json")
        ->type_name("DIR");
    app.add_option("--name", options->exporting.name, "Name of the files and functions (default: gemm_TYPE_LAYOUT)")
        ->type_name("NAME");
    app.add_flag("--force", options->exporting.force, "Write into the folder even if it is not empty");
    return [options](Output& output) { return export_set(*options, output); };
}

}  // namespace jitgemm::cli
