// Lines fit a screen: .clang-format wraps code at 120 columns, but leaves comments and string literals as they are.

#include "tests/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kMostColumns = 120;
const std::vector<std::string> kFolders{"bench",  "cmake",   "examples", "generator", "include",
                                        "python", "runtime", "scripts",  "templates", "tests"};
const std::vector<std::string> kGenerated{"data", "golden"};  // of tests: another tool wrote them
const std::vector<std::string> kExtensions{".cmake", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".in", ".py", ".sh"};

bool is_code(const fs::path& path) {
    return path.filename() == "CMakeLists.txt" ||
           std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

bool is_generated(const fs::path& path) {
    return std::ranges::any_of(path.lexically_relative(JITGEMM_SOURCE_DIR), [](const fs::path& folder) {
        return std::ranges::find(kGenerated, folder.string()) != kGenerated.end();
    });
}

/// Characters of UTF-8: every byte counts that does not continue one.
std::ptrdiff_t columns(std::string_view line) {
    return std::ranges::count_if(line, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
}

std::vector<std::string> long_lines(const fs::path& path) {
    std::vector<std::string> found;
    std::ifstream file(path);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number)
        if (columns(line) > kMostColumns)
            found.push_back(path.string() + ":" + std::to_string(number) + ": " + std::to_string(columns(line)));
    return found;
}

}  // namespace

TEST_CASE("no line of code or comment is longer than 120 columns") {
    std::vector<std::string> found;
    for (const std::string& folder : kFolders)
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(JITGEMM_SOURCE_DIR) / folder))
            if (entry.is_regular_file() && is_code(entry.path()) && !is_generated(entry.path()))
                for (std::string& line : long_lines(entry.path())) found.push_back(std::move(line));
    CAPTURE(found);
    CHECK(found.empty());
}

TEST_CASE("columns are characters, not bytes") { CHECK(columns("≥ 1 µs") == 6); }
