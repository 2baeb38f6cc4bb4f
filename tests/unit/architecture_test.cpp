// Dependencies point one way: tests → runtime → generator → templates. This test reads every #include and fails on a
// backward arrow, whatever the build system would let pass.

#include "tests/catch.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
    std::string file;  ///< relative to the repository
    int line = 0;
    std::string target;  ///< what stands between the quotes or brackets
    bool quoted = false;
};

const std::vector<std::string> kNone;

bool is_source(const fs::path& path) {
    constexpr std::array<std::string_view, 5> kExtensions{".hpp", ".cpp", ".cu", ".cuh", ".inl"};
    return std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

/// Follows raw string literals from line to line: what stands in one is text, not code.
class RawStrings {
public:
    /// Whether the line begins inside a raw string literal; takes note of one that begins in it.
    bool inside(const std::string& line) {
        static const std::regex kOpening(R"re(R"([^()\\ ]*)\()re");
        const bool began_inside = !closing_.empty();
        std::smatch match;
        if (!began_inside && std::regex_search(line, match, kOpening)) {
            closing_ = ")" + match[1].str() + "\"";
            if (match.suffix().str().find(closing_) != std::string::npos) closing_.clear();
        } else if (began_inside && line.find(closing_) != std::string::npos) {
            closing_.clear();
        }
        return began_inside;
    }

private:
    std::string closing_;  ///< what ends the literal; empty outside
};

void read_includes(const fs::path& path, const std::string& name, std::vector<Include>& includes) {
    static const std::regex kInclude(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
    std::ifstream file(path);
    RawStrings raw_strings;
    std::string text;
    std::smatch match;
    for (int line = 1; std::getline(file, text); ++line) {
        if (raw_strings.inside(text) || !std::regex_search(text, match, kInclude)) continue;
        includes.push_back({name, line, match[2], match[1] == "\""});
    }
}

std::vector<Include> includes_below(const std::string& folder) {
    const fs::path root = JITGEMM_SOURCE_DIR;
    std::vector<Include> includes;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        if (!entry.is_regular_file() || !is_source(entry.path())) continue;
        read_includes(entry.path(), entry.path().lexically_relative(root).generic_string(), includes);
    }
    return includes;
}

bool is_cuda_header(std::string_view target) {
    return target.starts_with("cuda") || target.starts_with("nvrtc") || target.starts_with("cublas") ||
           target.starts_with("nvml") || target == "vector_types.h" || target == "mma.h";
}

/// "file:line includes target" of every include that `forbidden` names.
template <typename Predicate>
std::vector<std::string> offenders(const std::string& folder, Predicate forbidden) {
    std::vector<std::string> found;
    for (const Include& include : includes_below(folder)) {
        if (forbidden(include))
            found.push_back(include.file + ":" + std::to_string(include.line) + " includes " + include.target);
    }
    return found;
}

}  // namespace

TEST_CASE("the reader of includes sees them") {
    REQUIRE(includes_below("generator").size() > 20);
    REQUIRE(includes_below("runtime").size() > 20);
    REQUIRE(includes_below("templates").size() > 3);
}

TEST_CASE("generator/ includes neither runtime, tests nor CUDA") {
    const auto backward = [](const Include& include) {
        return include.target.starts_with("runtime/") || include.target.starts_with("tests/") ||
               is_cuda_header(include.target);
    };
    REQUIRE(offenders("generator", backward) == kNone);
}

TEST_CASE("generator/ and runtime/ include by paths from the repository's root") {
    const auto elsewhere = [](const Include& include) {
        const bool device_code = include.file.ends_with(".cu") || include.file.ends_with(".cuh") ||
                                 include.file.ends_with(".inl");  // flattened by the renderer
        return include.quoted && !device_code && !include.target.starts_with("generator/") &&
               !include.target.starts_with("runtime/");
    };
    REQUIRE(offenders("generator", elsewhere) == kNone);
    REQUIRE(offenders("runtime", elsewhere) == kNone);
}

TEST_CASE("SQLite's wrapper knows nothing of tuning") {
    const auto tuning = [](const Include& include) {
        return include.file.ends_with("/sqlite.hpp") && include.target.starts_with("runtime/tuning/");
    };
    REQUIRE(offenders("runtime", tuning) == kNone);
}

TEST_CASE("templates include only each other") {
    const auto outside = [](const Include& include) {
        const fs::path templates = fs::path(JITGEMM_SOURCE_DIR) / "templates";
        const bool host_program =
            include.file == "templates/host_main.cuh";  // what dump --main appends: nvcc compiles it
        if (!include.quoted) return !host_program;
        return !(fs::exists(templates / include.target) || fs::exists(templates / "defaults" / include.target));
    };
    REQUIRE(offenders("templates", outside) == kNone);
}

TEST_CASE("only the command line includes runtime/cli/, and only runtime's own files include CUDA headers") {
    const auto command_line = [](const Include& include) {
        return include.target.starts_with("runtime/cli/") && !include.file.starts_with("runtime/cli/");
    };
    REQUIRE(offenders("runtime", command_line) == kNone);
    const auto cuda_in_header = [](const Include& include) {
        return is_cuda_header(include.target) && include.file.ends_with(".hpp") &&
               include.file != "runtime/cuda/driver.hpp" &&
               include.file != "runtime/export/export_text.hpp";  // the text of an exported program
    };
    REQUIRE(offenders("runtime", cuda_in_header) == kNone);
}

TEST_CASE("the public header reaches no CUDA header and no third-party one") {
    std::vector<std::string> queue{"jitgemm/jitgemm.hpp"};
    std::vector<std::string> seen;
    while (!queue.empty()) {
        const std::string name = queue.back();
        queue.pop_back();
        if (std::ranges::find(seen, name) != seen.end()) continue;
        seen.push_back(name);
        std::vector<Include> includes;
        read_includes(fs::path(JITGEMM_SOURCE_DIR) / name, name, includes);
        for (const Include& include : includes) {
            INFO(name << ":" << include.line << " includes " << include.target);
            const bool standard_header = include.target.find_first_of("./") == std::string::npos;
            REQUIRE((include.quoted || standard_header));
            if (include.quoted) queue.push_back(include.target);
        }
    }
    REQUIRE(seen.size() > 2);
}
