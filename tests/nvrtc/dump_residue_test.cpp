/// A dump holds the parts of its template that the kernel needs, and nothing unused. The compiler gives no warning for
/// it, and clang-format leaves it as it is.

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/cli/subprocess.hpp"
#include "runtime/compiler/compiler.hpp"
#include "tests/catch.hpp"
#include "tests/support/dump_samples.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using jitgemm::testing::dump_samples;
using jitgemm::testing::DumpSample;
using jitgemm::testing::OneIn;
using jitgemm::testing::put_text;
using jitgemm::testing::SampleExtent;
using jitgemm::testing::TemporaryFolder;
using jitgemm::testing::text_in;

// ---- names ----------------------------------------------------------------------------------------------------------

/// Without comments and without the text of strings.
std::string code_of(const std::string& body) {
    std::string code;
    for (std::size_t i = 0; i < body.size(); ++i) {
        if (body.compare(i, 2, "//") == 0) i = body.find('\n', i);
        if (body[i] == '"') i = body.find('"', i + 1) + 1;
        code += body[i];
    }
    return code;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// How often each word stands in some code.
std::map<std::string, int> words_of(const std::string& code) {
    std::map<std::string, int> words;
    for (std::size_t begin = 0; begin < code.size();) {
        std::size_t end = begin;
        while (end < code.size() && is_word(code[end])) ++end;
        if (end > begin) ++words[code.substr(begin, end - begin)];
        begin = end + 1;
    }
    return words;
}

/// From behind the bracket at `open` to the one that closes it.
std::string inside(const std::string& code, std::size_t open, char opening, char closing) {
    int depth = 0;
    std::size_t end = open;
    do depth += code.at(end) == opening ? 1 : code.at(end) == closing ? -1 : 0;
    while (depth > 0 && ++end < code.size());
    return code.substr(open + 1, end - open - 1);
}

/// The last word before `end`.
std::string word_before(const std::string& code, std::size_t end) {
    while (end > 0 && !is_word(code[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(code[begin - 1])) --begin;
    return code.substr(begin, end - begin);
}

/// Parameters whose names a function's body doesn't hold; one whose name is a comment is unused on purpose.
void check_parameters(const std::string& function, const std::string& list, const std::string& body) {
    // Copies of all kinds are constructed and issued alike, though not each needs the stage or the extent.
    if (function == "issue" || function == "TransposedCopy" || function == "StraightCopy") return;
    const std::map<std::string, int> words = words_of(body);
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t comma = std::min(list.find(',', begin), list.size());
        const std::size_t array = list.find('[', begin);
        const std::string name = word_before(list, std::min(comma, array));
        INFO(function << "(" << list << "): " << name);
        if (list.substr(begin, comma - begin).find("/*") == std::string::npos) CHECK((words.contains(name)));
        begin = comma + 1;
    }
}

void check_functions(const std::string& code, const std::map<std::string, int>& words) {
    for (std::size_t at = 0; (at = code.find("__device__ ", at)) != std::string::npos; ++at) {
        const std::size_t open = code.find('(', at);
        const std::string name = word_before(code, open);
        const std::string list = inside(code, open, '(', ')');
        const std::size_t behind = open + list.size() + 2;
        const std::size_t brace = code.find('{', behind);
        INFO(name);
        if (name != "operator") CHECK(words.at(name) > 1);  // its uses have no name
        check_parameters(name, list, code.substr(behind, brace - behind) + inside(code, brace, '{', '}'));
    }
}

/// Types, constants and fields of one line each.
void check_declarations(const std::string& code, const std::map<std::string, int>& words) {
    static const std::regex kDeclared(
        R"(\n *(?:using (\w+) =|struct (?:alignas\([^{]*\) )?(\w+) \{|constexpr \w+ (\w+) =|)"
        R"((?:const )?\w+(?: long)?\*? ([a-z_]\w*);))");
    for (auto at = std::sregex_iterator(code.begin(), code.end(), kDeclared); at != std::sregex_iterator(); ++at)
        for (std::size_t group = 1; group <= 4; ++group) {
            if (!(*at)[group].matched || (*at)[group] == "continue") continue;
            INFO((*at)[group].str());
            CHECK(words.at((*at)[group]) > 1);
        }
}

/// It declares nothing that it doesn't use, and decides nothing that is decided.
void check_code(const std::string& code) {
    static const std::regex kDecided(R"(if (?:constexpr )?\((?:true|false|0|1)[ )])");
    const std::map<std::string, int> words = words_of(code);
    check_functions(code, words);
    check_declarations(code, words);
    CHECK_FALSE(std::regex_search(code, kDecided));
}

void check_sections(const std::string& body) {
    static const std::regex kRuler("// ---- [^\n]*");
    CHECK(std::distance(std::sregex_iterator(body.begin(), body.end(), kRuler), std::sregex_iterator()) <= 12);
}

bool has_clang_format_14() {
    const auto version = cli::run_program({"clang-format", "--version"});
    return version && version->output.find("version 14.") != std::string::npos;
}

void check_format(const std::vector<std::string>& files) {
    std::vector<std::string> words{"clang-format", "--dry-run", "-Werror"};
    words.insert(words.end(), files.begin(), files.end());
    const auto result = cli::run_program(words);
    REQUIRE(result);
    INFO(result->output);
    CHECK(result->exit_code == 0);
}

}  // namespace

TEST_CASE("a dump holds what its kernel needs, in a dozen sections", "[heavy]") {
    const std::vector<DumpSample> samples = dump_samples();
    REQUIRE(samples.size() > 1000);
    OneIn tried(3);
    for (const DumpSample& sample : samples) {
        if (!tried.next()) continue;
        const KernelSource source = sample.source();
        INFO(source.name);
        check_code(code_of(source.body));
        check_sections(source.body);
    }
}

TEST_CASE("NVRTC has nothing to say of a dump") {
    const auto compiler = make_nvrtc_compiler(Options::from_environment(), 0, {});
    const std::vector<DumpSample> samples = dump_samples(SampleExtent::alignments_by_turns);
    std::set<std::string> kinds;  // a kernel of each at least
    for (std::size_t i = 0; i < samples.size(); ++i) {
        ParameterMap parameters = parameters_of(samples[i].config);
        const bool is_new = kinds.insert(std::string(family_name(samples[i].config)) + parameters["store"]).second;
        if (!is_new && i % 12 != 0) continue;
        const KernelSource source = samples[i].source();
        INFO(source.name);
        CHECK(compiler->compile(ptx_request(source)).log.find("warning") == std::string::npos);
    }
}

TEST_CASE("clang-format leaves dumps with their main as they are", "[heavy]") {
    if (!has_clang_format_14()) SKIP_TEST("no clang-format 14: the format of dumps is not tested");
    const TemporaryFolder folder;
    put_text(folder / ".clang-format", text_in(JITGEMM_SOURCE_DIR "/templates/.clang-format"));
    const std::vector<DumpSample> samples = dump_samples(SampleExtent::alignments_by_turns);
    std::vector<std::string> files;
    for (std::size_t i = 0; i < samples.size(); i += 2) {
        if (is_batched(samples[i].spec) || samples[i].spec.symmetric) continue;  // no main serves these
        const KernelSource source = samples[i].source();
        files.push_back(folder / (source.name + ".cu"));
        put_text(files.back(),
                 dump(source, problem_of(samples[i].spec)) + host_main(source, problem_of(samples[i].spec)));
    }
    check_format(files);
}

TEST_CASE("clang-format leaves templates as they are") {
    if (!has_clang_format_14()) SKIP_TEST("no clang-format 14: the format of templates is not tested");
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(JITGEMM_SOURCE_DIR "/templates"))
        if (entry.is_regular_file() && entry.path().filename() != ".clang-format") files.push_back(entry.path());
    check_format(files);
}
