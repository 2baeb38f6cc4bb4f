/// Pages that promise a list have all of it. So a new class, family, parameter, template or word needs its place there.

#include "generator/families/family.hpp"
#include "jitgemm/kernel_info.hpp"
#include "runtime/device/timing_protocol.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;
using jitgemm::testing::text_in;

const fs::path kRoot = JITGEMM_SOURCE_DIR;
const std::vector<std::string> kNone;

std::string page(const std::string& name) { return text_in(kRoot / "docs" / name); }

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// Without blocks of code.
std::string prose_of(const std::string& markdown) {
    std::string prose;
    bool code = false;
    for (const std::string& line : lines_of(markdown)) {
        const bool fence = line.starts_with("```");
        if (fence) code = !code;
        if (!code && !fence) prose += line + '\n';
    }
    return prose;
}

/// First groups of all matches.
std::vector<std::string> all_of(const std::string& text, const std::regex& pattern) {
    std::vector<std::string> found;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), pattern); at != std::sregex_iterator(); ++at)
        found.push_back((*at)[1]);
    return found;
}

/// The texts between backticks.
std::vector<std::string> code_spans(const std::string& markdown) {
    static const std::regex kSpan("`([^`]+)`");
    return all_of(prose_of(markdown), kSpan);
}

/// Identifiers between backticks.
std::set<std::string> code_words(const std::string& markdown) {
    static const std::regex kWord("([A-Za-z_]\\w*)");
    std::set<std::string> words;
    for (const std::string& span : code_spans(markdown))
        for (const std::string& word : all_of(span, kWord)) words.insert(word);
    return words;
}

// ---- the C++ API ----------------------------------------------------------------------------------------------------

/// Types, aliases and functions that a public header declares; its declarations stand at the margin, or four blanks in.
std::set<std::string> declared_in(const std::string& header) {
    static const std::regex kType(R"(\n(?:class|struct|enum class|using) (\w+)(?: :[^{;]*)? [{=])");
    static const std::regex kFunction(
        R"(\n(?:    )?(?:\[\[nodiscard\]\] )?(?:constexpr |static )*[\w:<>, ]*[\w>][&*]? [&*]?(\w+))"
        R"(\([^)]*\)(?: const)?(?: noexcept)?(?:;| \{))");
    std::set<std::string> names;
    const std::string declarations = header.substr(0, header.find("struct std::hash"));
    for (const std::regex* pattern : {&kType, &kFunction})
        for (const std::string& name : all_of(declarations, *pattern)) names.insert(name);
    names.erase("bool");  // explicit operator bool
    return names;
}

// ---- families -------------------------------------------------------------------------------------------------------

/// A page's text from a heading to the next one of its rank or a higher one; empty where there is no such heading.
std::string section(const std::string& markdown, const std::string& title) {
    std::string text;
    std::size_t rank = 0;
    for (const std::string& line : lines_of(markdown)) {
        const std::size_t hashes = line.find_first_not_of('#');
        const bool heading = hashes != 0 && hashes != std::string::npos && line[hashes] == ' ';
        if (heading && rank > 0 && hashes <= rank) break;
        if (heading && line.substr(hashes + 1) == title) rank = hashes;
        if (rank > 0) text += line + '\n';
    }
    return text;
}

/// Parameters stand in tables: "| `stages` |", "| `stages=N` |", or several in one cell.
std::set<std::string> documented_parameters(const std::string& text) {
    static const std::regex kName("`([a-z]\\w*)[=`]");
    std::set<std::string> names;
    for (const std::string& line : lines_of(text))
        if (line.starts_with("| `"))
            for (const std::string& name : all_of(line.substr(0, line.find(" | ")), kName)) names.insert(name);
    return names;
}

// ---- templates ------------------------------------------------------------------------------------------------------

/// "copy_{async,realign}_*.cuh" as a regular expression.
std::regex as_pattern(const std::string& glob) {
    std::string pattern;
    for (const char c : glob) {
        if (c == '*')
            pattern += ".*";
        else if (c == '.')
            pattern += "\\.";
        else if (c == '{')
            pattern += "(";
        else if (c == '}')
            pattern += ")";
        else if (c == ',')
            pattern += "|";
        else
            pattern += c;
    }
    return std::regex(pattern);
}

/// Files that a page names, some with stars and braces.
std::vector<std::regex> named_files(const std::string& markdown) {
    static const std::regex kFile(R"([\w*{},]+\.(cu|cuh|inl))");
    std::vector<std::regex> files;
    for (const std::string& span : code_spans(markdown))
        if (std::regex_match(span, kFile)) files.push_back(as_pattern(span));
    return files;
}

// ---- links ----------------------------------------------------------------------------------------------------------

/// As GitHub names a heading: small letters, digits, dashes for blanks.
std::string anchor_of(const std::string& heading) {
    std::string anchor;
    for (const char c : heading) {
        if (c == ' ')
            anchor += '-';
        else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || (c & 0x80) != 0)
            anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return anchor;
}

bool has_anchor(const std::string& markdown, const std::string& anchor) {
    return std::ranges::any_of(lines_of(prose_of(markdown)), [&](const std::string& line) {
        const std::size_t hashes = line.find_first_not_of('#');
        return hashes != 0 && hashes != std::string::npos && line[hashes] == ' ' &&
               anchor_of(line.substr(hashes + 1)) == anchor;
    });
}

/// Links within the repository that lead nowhere.
std::vector<std::string> dead_links(const fs::path& file) {
    static const std::regex kLink(R"(\]\(([^)\s]+)\))");
    const std::string markdown = text_in(file);
    std::vector<std::string> dead;
    for (const std::string& link : all_of(prose_of(markdown), kLink)) {
        if (link.find("://") != std::string::npos) continue;
        const std::string target = link.substr(0, link.find('#'));
        const fs::path path = target.empty() ? file : file.parent_path() / target;
        const bool there = fs::exists(path) && (link.find('#') == std::string::npos ||
                                                has_anchor(text_in(path), link.substr(link.find('#') + 1)));
        if (!there) dead.push_back(file.filename().string() + ": " + link);
    }
    return dead;
}

std::vector<fs::path> pages() {
    std::vector<fs::path> files{kRoot / "README.md", kRoot / "CONTRIBUTING.md"};
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
        if (entry.path().extension() == ".md") files.push_back(entry.path());
    return files;
}

// ---- the glossary ---------------------------------------------------------------------------------------------------

/// Words of the glossary's first column.
std::set<std::string> glossary_words() {
    std::set<std::string> words;
    for (const std::string& line : lines_of(page("glossary.md"))) {
        if (!line.starts_with("| ")) continue;
        std::istringstream terms(line.substr(2, line.find(" |", 2) - 2));
        for (std::string term; std::getline(terms, term, ',');) words.insert(term.substr(term.find_first_not_of(' ')));
    }
    return words;
}

}  // namespace

TEST_CASE("the page on the C++ API names all that the public headers declare") {
    const std::set<std::string> named = code_words(page("cpp-api.md"));
    std::vector<std::string> missing;
    std::size_t declared = 0;
    for (const auto& entry : fs::directory_iterator(kRoot / "include/jitgemm")) {
        if (entry.path().extension() != ".hpp") continue;
        for (const std::string& name : declared_in(text_in(entry.path()))) {
            ++declared;
            if (!named.contains(name)) missing.push_back(entry.path().filename().string() + ": " + name);
        }
    }
    CHECK(missing == kNone);
    CHECK(declared > 60);
}

TEST_CASE("each error has its row on the page on the C++ API") {
    static const std::regex kError(R"(\nclass (\w+) : public)");
    const std::string errors = section(page("cpp-api.md"), "Errors");
    for (const std::string& name : all_of(text_in(kRoot / "include/jitgemm/error.hpp"), kError)) {
        INFO(name);
        CHECK(errors.find("\n| `" + name + "` |") != std::string::npos);
    }
}

TEST_CASE("the page on families has a row, a section and every parameter of each") {
    const std::string families = page("families.md");
    for (const jitgemm::Family& family : jitgemm::family_table()) {
        const std::string name(family.name);
        INFO(name);
        CHECK(families.find("\n| [`" + name + "`](#" + name + ") |") != std::string::npos);
        const std::string text = section(families, name);
        REQUIRE(!text.empty());
        const std::set<std::string> documented = documented_parameters(text);
        for (const std::string_view parameter : family.parameter_names()) {
            INFO(parameter);
            CHECK(documented.contains(std::string(parameter)));
        }
    }
}

TEST_CASE("the page on templates says of each what it holds") {
    const std::vector<std::regex> named = named_files(section(page("templates.md"), "What stands where"));
    std::vector<std::string> missing;
    for (const auto& entry : fs::directory_iterator(kRoot / "templates")) {
        const std::string name = entry.path().filename().string();
        const auto is_it = [&](const std::regex& pattern) { return std::regex_match(name, pattern); };
        if (entry.is_regular_file() && name != ".clang-format" && std::ranges::none_of(named, is_it))
            missing.push_back(name);
    }
    CHECK(missing == kNone);
}

TEST_CASE("every link of a page leads somewhere") {
    std::vector<std::string> dead;
    for (const fs::path& file : pages()) std::ranges::copy(dead_links(file), std::back_inserter(dead));
    CHECK(dead == kNone);
}

TEST_CASE("the glossary has the words of the public interface") {
    const std::set<std::string> words = glossary_words();
    std::vector<std::string> promised{"spec", "k-tile (`k_tile`)", "k-block (`k_block`)", "swapped"};
    for (const std::string_view name : jitgemm::protocol_names()) promised.emplace_back(name);
    using enum jitgemm::ChoiceSource;
    for (const jitgemm::ChoiceSource source : {exact, nearest, heuristic, forced, hint, installed, stand_in})
        promised.emplace_back(to_string(source));
    for (const std::string& word : promised) {
        INFO(word);
        CHECK(words.contains(word));
    }
}
