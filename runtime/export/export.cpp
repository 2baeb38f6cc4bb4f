#include "runtime/export/export.hpp"

#include "generator/base/launch_text.hpp"
#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/version.hpp"
#include "runtime/device/entry_json.hpp"
#include "runtime/export/export_folder.hpp"
#include "runtime/export/export_launcher.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace jitgemm {
namespace {

std::string meta_json(const LauncherInput& input, const CompiledKernel& compiled) {
    nlohmann::json entries = nlohmann::json::array();
    for (const KernelEntry& entry : input.source.entries) entries.push_back(nlohmann::json(to_json(entry)));
    const nlohmann::json meta = {{"format", "jitgemm-export-v1"},
                                 {"jitgemm", kVersion},
                                 {"name", input.name},
                                 {"kernel", input.source.name},
                                 {"spec", to_string(input.problem.asked)},
                                 {"arch", compiled.arch},
                                 {"nvrtc_version", compiled.nvrtc_version},
                                 {"registers", compiled.report.registers},
                                 {"spill_bytes", compiled.report.spill_bytes()},
                                 {"workspace_bytes", input.workspace.bytes},
                                 {"operands_swapped", input.problem.transposed},
                                 {"entries", entries}};
    return meta.dump(2) + "\n";
}

}  // namespace

std::string checked_export_name(const ExportOptions& options, const GemmSpec& spec) {
    if (spec.pointers)
        throw SpecError("no launcher in C for this problem",
                        {"pointers is yes, and launchers in C take matrices and no arrays of addresses: leave it out"});
    if (spec.prepared != Prepared::none)
        throw SpecError("no launcher in C for this problem",
                        {fmt::format("prepared is {}, and launchers in C pass no operands in parts: leave it out",
                                     to_string(spec.prepared))});
    if (options.name.empty()) return fmt::format("gemm_{}_{}", to_string(spec.a), to_string(spec.layout));
    const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const bool starts_well = std::isdigit(static_cast<unsigned char>(options.name.front())) == 0;
    if (starts_well && std::all_of(options.name.begin(), options.name.end(), is_part)) return options.name;
    throw ConfigError(fmt::format("'{}' cannot name C functions", options.name),
                      {"a name has letters, digits and underscores, and does not begin with a digit"});
}

void export_kernel(const KernelSource& source, const Problem& problem, const CompiledKernel& compiled,
                   const std::string& directory, const ExportOptions& options) {
    const Problem lines = problem_of(as_lines(problem.asked));  // whose pitches a launch of the kernel gives
    const LauncherInput input{checked_export_name(options, lines.asked), source, lines,
                              workspace_layout(lines, source.id.config)};
    write_export_folder({{input.name + ".cubin", compiled.binary},
                         {input.name + ".h", launcher_header(input)},
                         {input.name + ".c", launcher_source(input)},
                         {input.name + ".cu", dump(input.source, input.problem)},
                         {"meta.json", meta_json(input, compiled)}},
                        directory, options.force);
}

}  // namespace jitgemm
