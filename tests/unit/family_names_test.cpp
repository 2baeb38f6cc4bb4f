// Shared code names no family: a family consists of its folder, its template and a line of families/table.hpp.

#include "generator/families/family.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

/// The ladder's rungs, which climb the families one after the other.
const std::set<std::string> kExceptions{"runtime/cli/ladder/rungs.cpp"};

/// "simt_naive" is SimtNaive as a type.
std::string type_of(std::string_view name) {
    std::string type;
    bool begins = true;
    for (const char letter : name) {
        if (letter != '_') type += begins ? static_cast<char>(std::toupper(letter)) : letter;
        begins = letter == '_';
    }
    return type;
}

const std::regex& any_family() {
    static const std::regex kNames = [] {
        std::string names;
        for (const jitgemm::Family& family : jitgemm::family_table())
            names += (names.empty() ? "" : "|") + std::string(family.name) + "|" + type_of(family.name);
        return std::regex("\\b(" + names + ")(Config)?\\b");
    }();
    return kNames;
}

/// A family's own folders, or the list of families.
bool may_name_families(const std::string& file) {
    if (file == "generator/families/table.hpp") return true;
    return std::ranges::any_of(jitgemm::family_table(), [&](const jitgemm::Family& family) {
        return file.starts_with("generator/families/" + std::string(family.name) + "/") ||
               file.starts_with("templates/" + std::string(family.name) + "/") ||
               file == "templates/" + std::string(family.template_file);
    });
}

/// A default stands for an include that a family names or generates, so it may include this family's files.
bool includes_by_default(const fs::path& path, const std::string& line) {
    return path.parent_path().filename() == "defaults" && line.starts_with("#include \"");
}

/// Whether its code does; comments may give examples.
bool names_family(const fs::path& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (!includes_by_default(path, line) && std::regex_search(line.substr(0, line.find("//")), any_family()))
            return true;
    return false;
}

std::set<std::string> shared_files_with_families() {
    std::set<std::string> found;
    const fs::path root = JITGEMM_SOURCE_DIR;
    for (const char* folder : {"generator", "runtime", "include", "templates", "cmake"})
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string name = entry.path().lexically_relative(root).generic_string();
            if (entry.is_regular_file() && !may_name_families(name) && names_family(entry.path())) found.insert(name);
        }
    return found;
}

}  // namespace

TEST_CASE("no shared file names a kernel family, but the ladder's list of rungs") {
    REQUIRE(shared_files_with_families() == kExceptions);
    REQUIRE(names_family(fs::path(JITGEMM_SOURCE_DIR) / "generator/families/table.hpp"));
}
