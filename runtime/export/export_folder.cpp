#include "runtime/export/export_folder.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace jitgemm {
namespace {

namespace fs = std::filesystem;

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

void write_new_folder(const fs::path& target, const ExportFiles& files) {
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

// Other files in the folder are somebody's and stay, as do its mode and owner. meta.json is written last.
void write_into_folder(const fs::path& target, const ExportFiles& files) {
    for (const auto& [name, contents] : files) write_output_file(target / name, contents);
    sync_directory(target);
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

std::vector<std::string> files_in(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

void write_export_folder(const ExportFiles& files, const std::string& directory, bool force) {
    require_export_folder(directory, force);
    const fs::path target = target_path(directory);
    try {
        fs::is_directory(target) ? write_into_folder(target, files) : write_new_folder(target, files);
    } catch (const std::system_error& error) {  // fs::filesystem_error is one, and names the temporary folder
        throw Error(fmt::format("cannot write {}: {}", target.string(), error.code().message()));
    }
}

}  // namespace jitgemm
