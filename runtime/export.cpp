#include "runtime/export.hpp"

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/context.hpp"
#include "runtime/entry_json.hpp"
#include "runtime/export_launcher.hpp"
#include "runtime/file_system.hpp"

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

using Files = std::vector<std::pair<std::string, std::string>>;  // name and contents, in the order they are written

std::string checked_name(const ExportOptions& options, const GemmSpec& spec) {
    if (options.name.empty()) return fmt::format("gemm_{}_{}", to_string(spec.a), to_string(spec.layout));
    const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const bool starts_well = std::isdigit(static_cast<unsigned char>(options.name.front())) == 0;
    if (starts_well && std::all_of(options.name.begin(), options.name.end(), is_part)) return options.name;
    throw Error(
        fmt::format("'{}' is no name for C functions: letters, digits and underscores, no digit first", options.name));
}

std::string meta_json(const LauncherInput& input, const CompiledKernel& compiled) {
    nlohmann::json entries = nlohmann::json::array();
    for (const KernelEntry& entry : input.source.entries) entries.push_back(nlohmann::json(to_json(entry)));
    const nlohmann::json meta = {{"format", "jitgemm-export-v1"},
                                 {"jitgemm", kVersion},
                                 {"name", input.name},
                                 {"kernel", input.source.name},
                                 {"spec", to_string(input.spec)},
                                 {"arch", compiled.arch},
                                 {"nvrtc_version", compiled.nvrtc_version},
                                 {"registers", compiled.report.registers},
                                 {"spill_bytes", compiled.report.spill_store_bytes + compiled.report.spill_load_bytes},
                                 {"workspace_bytes", input.workspace_bytes},
                                 {"operands_traded", input.spec.d_order == Order::column},
                                 {"entries", entries}};
    return meta.dump(2) + "\n";
}

Files files_of(const LauncherInput& input, const CompiledKernel& compiled) {
    return {{input.name + ".cubin", compiled.binary},
            {input.name + ".h", launcher_header(input)},
            {input.name + ".c", launcher_source(input)},
            {input.name + ".cu", dump(input.source, input.spec)},
            {"meta.json", meta_json(input, compiled)}};
}

// Without a trailing slash, which would make the temporary folder a child of it.
std::filesystem::path target_path(const std::string& directory) {
    const std::filesystem::path path = std::filesystem::absolute(directory).lexically_normal();
    return path.has_filename() ? path : path.parent_path();
}

bool is_occupied(const std::filesystem::path& target) {
    if (!std::filesystem::exists(target)) return false;
    if (!std::filesystem::is_directory(target))
        throw Error(fmt::format("{} is there and is not a folder", target.string()));
    return !std::filesystem::is_empty(target);
}

void write_new_folder(const std::filesystem::path& target, const Files& files) {
    const std::filesystem::path temporary = target.string() + "." + unique_suffix();
    std::filesystem::create_directories(temporary);
    try {
        for (const auto& [name, contents] : files) write_new_file(temporary / name, contents, 0644);
        sync_directory(temporary);
        std::filesystem::rename(temporary, target);  // also over an empty folder
    } catch (...) {
        remove_tree(temporary);
        throw;
    }
    sync_directory(target.parent_path());
}

// What else lies in the folder is somebody's and stays; meta.json comes last.
void write_into_folder(const std::filesystem::path& target, const Files& files) {
    for (const auto& [name, contents] : files) write_file_atomically(target / name, contents, 0644);
    sync_directory(target);
}

void write_export(const LauncherInput& input, const CompiledKernel& compiled, const std::string& directory,
                  bool force) {
    const std::filesystem::path target = target_path(directory);
    const bool occupied = is_occupied(target);
    if (occupied && !force) throw Error(fmt::format("{} is there and not empty", target.string()));
    const Files files = files_of(input, compiled);
    occupied ? write_into_folder(target, files) : write_new_folder(target, files);
}

}  // namespace

void export_kernel(const KernelSource& source, const GemmSpec& spec, const CompiledKernel& compiled,
                   const std::string& directory, const ExportOptions& options) {
    const GemmSpec asked = resolved(spec);
    const KernelConfig config = parse_kernel_name(source.name).config;
    const std::int64_t workspace_bytes = family_of(config).workspace_bytes(with_row_major_d(asked), config);
    write_export({checked_name(options, asked), source, asked, workspace_bytes}, compiled, directory, options.force);
}

void export_kernel(const GemmKernel::State& kernel, const CompiledKernel& compiled, const std::string& directory,
                   const ExportOptions& options) {
    export_kernel(*kernel.source, kernel.spec, compiled, directory, options);
}

}  // namespace jitgemm
