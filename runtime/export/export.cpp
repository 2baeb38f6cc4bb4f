#include "runtime/export/export.hpp"

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/version.hpp"
#include "runtime/device/entry_json.hpp"
#include "runtime/export/export_launcher.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

namespace fs = std::filesystem;

using Files = std::vector<std::pair<std::string, std::string>>;  // name and contents, in the order they are written

std::string checked_name(const ExportOptions& options, const GemmSpec& spec) {
    if (options.name.empty()) return fmt::format("gemm_{}_{}", to_string(spec.a), to_string(spec.layout));
    const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const bool starts_well = std::isdigit(static_cast<unsigned char>(options.name.front())) == 0;
    if (starts_well && std::all_of(options.name.begin(), options.name.end(), is_part)) return options.name;
    throw ConfigError(fmt::format("'{}' cannot name C functions", options.name),
                      {"a name has letters, digits and underscores, and does not begin with a digit"});
}

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

Files files_of(const LauncherInput& input, const CompiledKernel& compiled) {
    return {{input.name + ".cubin", compiled.binary},
            {input.name + ".h", launcher_header(input)},
            {input.name + ".c", launcher_source(input)},
            {input.name + ".cu", dump(input.source, input.problem)},
            {"meta.json", meta_json(input, compiled)}};
}

// Without a trailing slash, which would make the temporary folder a child of it.
fs::path target_path(const std::string& directory) {
    const fs::path path = fs::absolute(directory).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

void require_free(const fs::path& target, bool force) {
    if (!fs::exists(target)) return;
    if (!fs::is_directory(target)) throw Error(fmt::format("{} exists and is not a folder", target.string()));
    if (!force && !fs::is_empty(target)) throw Error(fmt::format("{} exists and is not empty", target.string()));
}

/// The path itself if it exists, else its nearest parent that exists.
fs::path nearest_folder(fs::path path) {
    while (!fs::exists(path) && path.has_relative_path()) path = path.parent_path();
    return path;
}

void write_new_folder(const fs::path& target, const Files& files) {
    const fs::path temporary = name_beside(target);
    fs::create_directories(temporary);
    try {
        for (const auto& [name, contents] : files) write_new_file(temporary / name, contents, 0644);
        sync_directory(temporary);
        fs::rename(temporary, target);
    } catch (...) {
        remove_tree(temporary);
        throw;
    }
    sync_directory(target.parent_path());
}

// What else lies in the folder is somebody's and stays, as do its mode and owner; meta.json comes last.
void write_into_folder(const fs::path& target, const Files& files) {
    for (const auto& [name, contents] : files) write_output_file(target / name, contents);
    sync_directory(target);
}

void write_export(const LauncherInput& input, const CompiledKernel& compiled, const std::string& directory,
                  bool force) {
    require_export_folder(directory, force);
    const fs::path target = target_path(directory);
    const Files files = files_of(input, compiled);
    try {
        fs::is_directory(target) ? write_into_folder(target, files) : write_new_folder(target, files);
    } catch (const std::system_error& error) {  // fs::filesystem_error is one, and names the temporary folder
        throw Error(fmt::format("cannot write {}: {}", target.string(), error.code().message()));
    }
}

}  // namespace

void require_export_folder(const std::string& directory, bool force) {
    const fs::path target = target_path(directory);
    require_free(target, force);
    try {
        require_writable(nearest_folder(target) / fmt::format(".jitgemm-{}", unique_suffix()));
    } catch (const std::system_error& error) {
        throw Error(fmt::format("cannot write {}: {}", target.string(), error.code().message()));
    }
}

void export_kernel(const KernelSource& source, const Problem& problem, const CompiledKernel& compiled,
                   const std::string& directory, const ExportOptions& options) {
    const Problem lines = problem_of(as_lines(problem.asked));  // whose pitches a launch of the kernel gives
    write_export({checked_name(options, lines.asked), source, lines, workspace_layout(lines, source.id.config)},
                 compiled, directory, options.force);
}

}  // namespace jitgemm
