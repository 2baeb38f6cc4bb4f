#include "runtime/cli/files.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

namespace jitgemm::cli {
namespace {

/// There is nothing to put a file beside.
bool is_pipe_or_device(const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
           !std::filesystem::is_directory(status);
}

std::string text_of_stream(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw UsageError(fmt::format("cannot read {}", path));
    return std::move(text).str();
}

/// The file that a name leads to, so that two names of one are told.
std::filesystem::path place_of(const std::string& file) {
    std::error_code ignored;
    const std::filesystem::path place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored);
    return place.empty() ? std::filesystem::path(file) : place;
}

}  // namespace

std::string file_text(const std::string& path) {
    if (is_pipe_or_device(path)) return text_of_stream(path);
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw UsageError(fmt::format("{} is a folder, not a file", path));
    try {
        std::optional<std::string> text = read_file(path);
        if (!text) throw UsageError(fmt::format("there is no file {}", path));
        return *std::move(text);
    } catch (const std::system_error& error) {
        throw UsageError(fmt::format("cannot read {}: {}", path, error.code().message()));
    }
}

void check_output_file(std::string_view option, const std::string& file) {
    if (file.empty()) return;
    const std::filesystem::path path = file;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    if (file == "-" || std::filesystem::is_directory(path))
        throw UsageError(fmt::format("--{} is '{}': expected the name of a file", option, file));
    if (!std::filesystem::is_directory(folder))
        throw UsageError(fmt::format("--{} is '{}': there is no folder {}", option, file, folder.string()));
    try {
        require_writable(file);
    } catch (const std::system_error& error) {
        throw UsageError(fmt::format("--{} is '{}': {}", option, file, error.what()));
    }
}

void check_different(std::string_view option, const std::string& file, std::string_view other_option,
                     const std::string& other) {
    if (file.empty() || other.empty() || place_of(file) != place_of(other)) return;
    std::error_code ignored;
    if (std::filesystem::is_character_file(file, ignored)) return;  // /dev/null takes both
    throw UsageError(
        fmt::format("--{} and --{} are both '{}': one would overwrite the other", option, other_option, file));
}

}  // namespace jitgemm::cli
