#include "runtime/cli/files.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace jitgemm::cli {
namespace {

/// The file that a name leads to, so that two names of one are told.
std::filesystem::path place_of(const std::string& file) {
    std::error_code ignored;
    const std::filesystem::path place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(file, ignored), ignored);
    return place.empty() ? std::filesystem::path(file) : place;
}

}  // namespace

void check_encoding(std::string_view text, const std::string& name) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        throw UsageError(fmt::format("{} is UTF-16: save it as UTF-8", name));
    const std::size_t nul = text.find('\0');
    if (nul == std::string_view::npos) return;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    throw UsageError(fmt::format("{}:{}: a NUL byte: this is not a text file", name, line));
}

std::string file_text(const std::string& path, std::string_view kind) {
    constexpr std::size_t kChunk = std::size_t{1} << 16U;
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw UsageError(fmt::format("{} is a folder: expected a {}", path, kind));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    std::string text;
    std::string chunk(kChunk, '\0');
    while (file.read(chunk.data(), kChunk) || file.gcount() > 0) {
        text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
        if (text.size() <= kChunk) check_encoding(text, path);
        if (text.size() > kMostTextBytes)
            throw UsageError(
                fmt::format("{} is larger than {} MiB, the limit for a {}", path, kMostTextBytes >> 20U, kind));
    }
    if (file.bad()) throw UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    return text;
}

void check_output_file(std::string_view option, const std::string& file) {
    if (!file.empty()) check_named_output_file(fmt::format("--{}", option), file);
}

void check_named_output_file(std::string_view word, const std::string& file) {
    const std::filesystem::path path = file;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    if (file == "-" || std::filesystem::is_directory(path))
        throw UsageError(fmt::format("{} is '{}': expected the name of a file", word, file));
    if (!std::filesystem::is_directory(folder))
        throw UsageError(fmt::format("{} is '{}': there is no folder {}", word, file, folder.string()));
    try {
        require_writable(file);
    } catch (const std::system_error& error) {
        throw UsageError(fmt::format("{} is '{}': {}", word, file, error.what()));
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
