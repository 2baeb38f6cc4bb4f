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
const std::vector<std::string> kFolders{".ci",    "bench",   "cmake",   "examples",  "generator", "include",
                                        "python", "runtime", "scripts", "templates", "tests"};
const std::vector<std::string> kExtensions{".c",  ".cmake", ".cpp", ".cu",  ".cuh", ".h", ".hpp",
                                           ".in", ".inl",   ".py",  ".pyi", ".rs",  ".sh"};

bool is_code(const fs::path& path) {
    const std::string name = path.filename().string();
    return name == "CMakeLists.txt" || (name == "run" && path.parent_path().filename() == ".ci") ||
           std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

/// The generator wrote the kernels of tests/golden.
bool is_generated(const fs::path& path) { return path.parent_path().filename() == "golden"; }

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

TEST_CASE("the length of a line is checked in code of every kind, and not in data or generated kernels") {
    const fs::path root(JITGEMM_SOURCE_DIR);
    for (const char* file :
         {".ci/run", "tests/CMakeLists.txt", "templates/defaults/tma_copies.inl", "tests/consumer/consumer.c",
          "tests/data/abi/0/program.c", "tests/data/emulator/from_ncu.py"}) {
        INFO(file);
        CHECK(fs::exists(root / file));
        CHECK((is_code(root / file) && !is_generated(root / file)));
    }
    CHECK_FALSE(is_code(root / "tests/data/cute_tiled_mma.txt"));
    CHECK(is_generated(root / "tests/golden/wgmma_bf16_tn.cu"));
}

TEST_CASE("columns are characters, not bytes") { CHECK(columns("≥ 1 µs") == 6); }
