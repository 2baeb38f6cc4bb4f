// Dependencies point one way: tests → runtime → generator → templates, and from room to room within runtime/. This test
// reads every #include and fails on an arrow that no table allows, whatever the build system would let pass.

#include "tests/catch.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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
    constexpr std::array<std::string_view, 6> kExtensions{".h", ".hpp", ".cpp", ".cu", ".cuh", ".inl"};
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

namespace {

/// A folder, and the folders that its files may include beside their own. Rooms stand below what they include: a circle
/// of folders can't be written down here.
struct Room {
    std::string_view folder;
    std::vector<std::string_view> may_include;
};

const std::vector<Room>& rooms() {
    static const std::vector<Room> kRooms{
        {"include/jitgemm", {}},
        {"generator/text", {"include/jitgemm"}},
        {"generator/epilogue", {"include/jitgemm", "generator/text"}},
        {"generator/base", {"include/jitgemm", "generator/text", "generator/epilogue"}},
        {"generator/layout", {"include/jitgemm", "generator/text", "generator/base"}},
        {"generator/families/shared",
         {"include/jitgemm", "generator/text", "generator/epilogue", "generator/base", "generator/layout"}},
        {"generator/families/<family>",
         {"generator/epilogue", "generator/base", "generator/layout", "generator/families/shared"}},
        {"generator/families",
         {"include/jitgemm", "generator/text", "generator/base", "generator/families/shared",
          "generator/families/<family>"}},
        {"generator", {"include/jitgemm", "generator/base", "generator/families/shared", "generator/families"}},
        {"generator/draw",
         {"include/jitgemm", "generator/base", "generator/layout", "generator/families/shared", "generator/families"}},
        {"runtime/device", {"include/jitgemm", "generator/text", "generator/epilogue", "generator/base"}},
        {"runtime/emulator", {"include/jitgemm", "generator/text", "generator/base", "generator/layout"}},
        {"runtime/support", {"include/jitgemm", "generator/text", "generator/base", "runtime/device"}},
        {"runtime/compiler", {"include/jitgemm", "generator/base", "runtime/support"}},
        {"runtime/cache", {"include/jitgemm", "runtime/support", "runtime/compiler"}},
        {"runtime/cuda", {"include/jitgemm", "generator/base", "runtime/device", "runtime/support"}},
        {"runtime/emulator_device",
         {"include/jitgemm", "generator/base", "generator/layout", "generator/families", "runtime/device",
          "runtime/emulator", "runtime/support"}},
        {"runtime/tuning/store",
         {"include/jitgemm", "generator/text", "generator/base", "generator/families", "generator", "runtime/device",
          "runtime/support", "runtime/compiler", "runtime/cuda"}},
        {"runtime/context",
         {"include/jitgemm", "generator/base", "generator/families", "generator", "runtime/device", "runtime/support",
          "runtime/compiler", "runtime/cache", "runtime/cuda", "runtime/emulator_device", "runtime/tuning/store"}},
        {"runtime/export",
         {"include/jitgemm", "generator/epilogue", "generator/base", "generator/families/shared", "generator/families",
          "generator", "runtime/device", "runtime/support", "runtime/compiler"}},
        {"runtime/c_api",
         {"include/jitgemm", "generator/text", "generator/base", "runtime/device", "runtime/support",
          "runtime/emulator_device", "runtime/context"}},
        {"runtime/tuning/search",
         {"include/jitgemm", "generator/text", "generator/families", "generator", "runtime/tuning/store"}},
        {"runtime/tuning/report",
         {"include/jitgemm", "generator/base", "generator/families", "generator/draw", "runtime/support",
          "runtime/tuning/store", "runtime/tuning/search"}},
        {"runtime/tuning/fit",
         {"include/jitgemm", "generator/families/shared", "generator/families", "runtime/tuning/store",
          "runtime/tuning/report"}},
        {"runtime/verify",
         {"include/jitgemm", "generator/epilogue", "generator/base", "generator/families", "runtime/device",
          "runtime/support", "runtime/emulator_device", "runtime/context"}},
        {"runtime/bench",
         {"include/jitgemm", "generator/epilogue", "generator/base", "generator/families/shared", "runtime/device",
          "runtime/support", "runtime/cuda", "runtime/context", "runtime/verify"}},
        {"runtime/cli",
         {"include/jitgemm", "generator/text", "generator/base", "generator/layout", "generator/families", "generator",
          "runtime/device", "runtime/emulator", "runtime/support", "runtime/compiler", "runtime/cache", "runtime/cuda",
          "runtime/emulator_device", "runtime/tuning/store", "runtime/context", "runtime/export", "runtime/verify",
          "runtime/bench"}},
        {"runtime/cli/bench",
         {"include/jitgemm", "generator/families", "generator/draw", "runtime/device", "runtime/support",
          "runtime/cli"}},
        {"runtime/cli/ladder",
         {"include/jitgemm", "generator/base", "generator", "generator/draw", "runtime/device", "runtime/support",
          "runtime/emulator_device", "runtime/context", "runtime/verify", "runtime/bench", "runtime/cli"}},
        {"runtime/cli/layout",
         {"include/jitgemm", "generator/text", "generator/layout", "generator", "generator/draw", "runtime/support",
          "runtime/cli"}},
        {"runtime/tuning/workers",
         {"include/jitgemm", "generator/text", "generator/families", "generator", "runtime/device", "runtime/support",
          "runtime/compiler", "runtime/cache", "runtime/cuda", "runtime/tuning/store", "runtime/tuning/search",
          "runtime/verify", "runtime/bench"}},
        {"runtime/tuning/sweep",
         {"include/jitgemm", "runtime/device", "runtime/support", "runtime/tuning/store", "runtime/context",
          "runtime/tuning/search", "runtime/tuning/workers"}},
        {"runtime/cli/tune",
         {"include/jitgemm", "generator/text", "generator/families", "runtime/device", "runtime/support",
          "runtime/cuda", "runtime/tuning/store", "runtime/tuning/report", "runtime/tuning/fit", "runtime/cli",
          "runtime/tuning/workers", "runtime/tuning/sweep"}},
        {"runtime/cli/kernels",
         {"include/jitgemm", "generator", "runtime/tuning/store", "runtime/export", "runtime/tuning/search",
          "runtime/cli", "runtime/cli/tune"}},
        {"runtime/warm",
         {"include/jitgemm", "generator/base", "generator/families", "generator", "runtime/support", "runtime/compiler",
          "runtime/cache", "runtime/tuning/store", "runtime/tuning/sweep"}},
        {"runtime/cli/warm",
         {"include/jitgemm", "runtime/tuning/store", "runtime/cli", "runtime/tuning/workers", "runtime/warm"}},
        {"python/src",
         {"include/jitgemm", "generator/text", "generator/epilogue", "generator/base", "generator/layout",
          "generator/draw", "runtime/device", "runtime/emulator", "runtime/support", "runtime/emulator_device",
          "runtime/context", "runtime/c_api"}},
    };
    return kRooms;
}

/// Of a file, or of what an #include names; the families' own folders are one room.
std::string folder_of(const std::string& path) {
    const fs::path folder = fs::path(path.starts_with("jitgemm/") ? "include/" + path : path).parent_path();
    const bool is_familys = folder.parent_path() == "generator/families" && folder.filename() != "shared";
    return is_familys ? "generator/families/<family>" : folder.generic_string();
}

std::vector<Room>::const_iterator room_of(std::string_view folder) {
    return std::ranges::find(rooms(), folder, &Room::folder);
}

bool is_ours(const std::string& target) {
    return target.starts_with("jitgemm/") || target.starts_with("generator/") || target.starts_with("runtime/") ||
           target.starts_with("python/");
}

/// Includes that lead from one room into another.
std::vector<Include> arrows() {
    std::vector<Include> found;
    for (const char* const part : {"include", "generator", "runtime", "python"})
        for (const Include& include : includes_below(part))
            if (include.quoted && is_ours(include.target) && folder_of(include.file) != folder_of(include.target))
                found.push_back(include);
    return found;
}

}  // namespace

TEST_CASE("each folder includes what its line of the table allows, and nothing else") {
    std::vector<std::string> wrong;
    for (const Include& include : arrows()) {
        const auto room = room_of(folder_of(include.file));
        const std::string target = folder_of(include.target);
        if (room != rooms().end() && std::ranges::find(room->may_include, target) != room->may_include.end()) continue;
        wrong.push_back(include.file + ":" + std::to_string(include.line) + " includes " + include.target);
    }
    CHECK(wrong == kNone);
}

TEST_CASE("a family includes no other family, but wmma_multistage what it is built on") {
    const auto other_family = [](const Include& include) {
        constexpr std::string_view kFamilies = "generator/families/";
        const fs::path file = fs::path(include.file).parent_path();
        const fs::path target = fs::path(include.target).parent_path();
        if (!include.file.starts_with(kFamilies) || !include.target.starts_with(kFamilies) || file == target)
            return false;
        if (file == "generator/families" || target == "generator/families/shared") return false;
        return file != "generator/families/wmma_multistage" || target != "generator/families/mma_multistage";
    };
    CHECK(offenders("generator", other_family) == kNone);
}

TEST_CASE("the table of folders has no circle and nothing that nobody needs") {
    std::vector<std::string> used;
    for (const Include& include : arrows()) used.push_back(folder_of(include.file) + " " + folder_of(include.target));
    for (auto room = rooms().begin(); room != rooms().end(); ++room)
        for (const std::string_view target : room->may_include) {
            const std::string arrow = std::string(room->folder) + " " + std::string(target);
            INFO(arrow);
            CHECK(room_of(target) < room);
            CHECK(std::ranges::find(used, arrow) != used.end());
        }
}

TEST_CASE("docs/architecture.md names every folder of the table") {
    std::ifstream file(fs::path(JITGEMM_SOURCE_DIR) / "docs/architecture.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    REQUIRE(page.size() > 1000);
    for (const Room& room : rooms()) {
        std::string folder(room.folder);
        if (folder.ends_with("<family>")) continue;
        if (folder.starts_with("runtime/")) folder.erase(0, std::string_view("runtime/").size());
        INFO(folder);
        CHECK(std::regex_search(page, std::regex("(^|[^\\w/])" + folder + "/")));
    }
}

namespace {

/// The stems of the sources, "context" of context.cpp, each with its folders relative to the repository.
std::multimap<std::string, std::string> sources_by_stem() {
    const fs::path root = JITGEMM_SOURCE_DIR;
    std::multimap<std::string, std::string> found;
    for (const char* const part : {"include", "generator", "runtime"})
        for (const auto& entry : fs::recursive_directory_iterator(root / part)) {
            if (!is_source(entry.path())) continue;
            const fs::path path = entry.path().lexically_relative(root);
            found.emplace(path.stem().string(), path.parent_path().generic_string());
        }
    return found;
}

/// Whether a test of `folder` that is named after `stem` lies beside a source of that name. Sources of include/ count
/// for any folder: what they declare is defined elsewhere.
bool lies_as_its_source(const std::multimap<std::string, std::string>& sources, const std::string& stem,
                        const std::string& folder) {
    const auto [first, last] = sources.equal_range(stem);
    return first == last || std::any_of(first, last, [&](const auto& source) {
               return source.second == folder || source.second.starts_with("include/");
           });
}

}  // namespace

TEST_CASE("a unit test lies in the folder of the source that it is named after") {
    const fs::path root = JITGEMM_SOURCE_DIR;
    const auto sources = sources_by_stem();
    CHECK_FALSE(lies_as_its_source(sources, "heuristics", "generator/base"));
    CHECK_FALSE(lies_as_its_source(sources, "heuristics", ""));
    for (const auto& entry : fs::recursive_directory_iterator(root / "tests/unit")) {
        constexpr std::string_view kEnding = "_test";
        std::string stem = entry.path().stem().string();
        if (!stem.ends_with(kEnding)) continue;
        stem.resize(stem.size() - kEnding.size());
        const fs::path folder = entry.path().parent_path().lexically_relative(root / "tests/unit");
        INFO(entry.path().string());
        CHECK(fs::is_directory(root / folder));
        CHECK(lies_as_its_source(sources, stem, folder == "." ? "" : folder.generic_string()));
    }
}

TEST_CASE("generator/ includes neither runtime, tests nor CUDA") {
    const auto backward = [](const Include& include) {
        return include.target.starts_with("runtime/") || include.target.starts_with("tests/") ||
               is_cuda_header(include.target);
    };
    REQUIRE(offenders("generator", backward) == kNone);
}

TEST_CASE("generator/, runtime/ and python/ include by paths from the repository's root") {
    const auto elsewhere = [](const Include& include) {
        const bool device_code = include.file.ends_with(".cu") || include.file.ends_with(".cuh") ||
                                 include.file.ends_with(".inl");  // flattened by the renderer
        return include.quoted && !device_code && !is_ours(include.target);
    };
    REQUIRE(offenders("include", elsewhere) == kNone);
    REQUIRE(offenders("generator", elsewhere) == kNone);
    REQUIRE(offenders("runtime", elsewhere) == kNone);
    REQUIRE(offenders("python", elsewhere) == kNone);
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
            include.file == "templates/common/host_main.cuh";  // what dump --main appends: nvcc compiles it
        if (!include.quoted) return !host_program;
        return !(fs::exists(templates / include.target) || fs::exists(templates / "defaults" / include.target));
    };
    REQUIRE(offenders("templates", outside) == kNone);
}

namespace {

/// The folders of templates/ that many kernels share; each file may include its own folder, too.
const std::vector<Room>& shared_template_rooms() {
    static const std::vector<Room> kRooms{
        {"common", {}},
        {"ptx", {"common"}},
        {"scheduler", {"common", "ptx"}},
        {"epilogue", {"common", "ptx", "scheduler"}},
        {"reduction", {"common"}},
        {"multistage", {"common", "ptx"}},
    };
    return kRooms;
}

/// Whether a template may include another. Any folder that is not shared is a family's; the ladder may borrow from
/// families.
bool may_include_template(const std::string& from, const std::string& target) {
    const auto shared = [](const std::string& folder) {
        return std::ranges::find(shared_template_rooms(), folder, &Room::folder);
    };
    const auto none = shared_template_rooms().end();
    if (from == target || from == "defaults") return true;
    if (shared(from) != none)
        return std::ranges::find(shared(from)->may_include, target) != shared(from)->may_include.end();
    return shared(target) != none || (from == "ladder" && target != "defaults");
}

bool crosses_template_rooms(const Include& include) {
    const fs::path target(include.target);
    if (!include.quoted || !target.has_parent_path()) return false;  // an include name that a rendering gives a meaning
    const std::string from = fs::path(include.file).parent_path().filename().string();
    return !may_include_template(from, target.parent_path().string());
}

}  // namespace

TEST_CASE("a folder of templates includes what its line of the table allows, and no family another") {
    CHECK(offenders("templates", crosses_template_rooms) == kNone);
    CHECK(crosses_template_rooms({"templates/wgmma/a.cuh", 1, "mma_sliced_k/b.cuh", true}));
    CHECK(crosses_template_rooms({"templates/common/a.cuh", 1, "wgmma/b.cuh", true}));
    CHECK(crosses_template_rooms({"templates/ptx/a.cuh", 1, "scheduler/b.cuh", true}));
    CHECK_FALSE(crosses_template_rooms({"templates/ladder/a.cu", 1, "wgmma/b.cuh", true}));
}

namespace {

/// Whether a line of that template asks the kernel's arguments for a size of the problem, where a tile has its answer.
bool asks_for_a_size(std::string_view file, const std::string& line) {
    // Where tiles, arguments and partial sums are laid out, and kernels that only teach.
    static const std::vector<std::string_view> kMayAsk{"common/",
                                                       "defaults/",
                                                       "scheduler/",
                                                       "epilogue/output_tile.cuh",
                                                       "epilogue/split_k_reduce",
                                                       "reduction/make_parts.cuh",
                                                       "ladder/",
                                                       "mma_sliced_k/long_operand.cuh",
                                                       "simt_long_k/simt_long_k_sums.cuh"};
    const auto is_in = [&](std::string_view place) { return file.starts_with(place); };
    static const std::regex kSize(R"(\bargs\.[mnk]\b)");
    return std::ranges::none_of(kMayAsk, is_in) && std::regex_search(line, kSize);
}

}  // namespace

TEST_CASE("copies, mainloops and epilogues of templates ask a tile for sizes, not the arguments") {
    const fs::path templates = fs::path(JITGEMM_SOURCE_DIR) / "templates";
    for (const auto& entry : fs::recursive_directory_iterator(templates)) {
        if (!entry.is_regular_file() || !is_source(entry.path())) continue;
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            INFO(entry.path().string() << ": " << line);
            CHECK_FALSE(asks_for_a_size(entry.path().lexically_relative(templates).generic_string(), line));
        }
    }
    CHECK(asks_for_a_size("wgmma/a.cuh", "    if (args.k == 0) return;"));
    CHECK_FALSE(asks_for_a_size("scheduler/a.cuh", "    rows(args.m),"));
    CHECK_FALSE(asks_for_a_size("wgmma/a.cuh", "    args.map_a"));
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

TEST_CASE("the C header includes stddef.h and stdint.h alone") {
    std::vector<Include> includes;
    read_includes(fs::path(JITGEMM_SOURCE_DIR) / "include/jitgemm/jitgemm.h", "jitgemm.h", includes);
    REQUIRE(includes.size() == 2);
    CHECK(includes[0].target == "stddef.h");
    CHECK(includes[1].target == "stdint.h");
}

TEST_CASE("the public header reaches no CUDA header and no third-party one") {
    std::vector<std::string> queue{"include/jitgemm/jitgemm.hpp"};
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
            if (include.quoted) queue.push_back("include/" + include.target);
        }
    }
    REQUIRE(seen.size() > 2);
}
