/// What is left of a template is what its kernel needs: dumps hold nothing unused, the compiler has nothing to say of them, and
/// clang-format leaves them as they are.

#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "runtime/cli/subprocess.hpp"
#include "runtime/compiler/compiler.hpp"
#include "tests/catch.hpp"
#include "tests/support/simt_variants.hpp"
#include "tests/support/sliced_k_checks.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using jitgemm::testing::put_text;
using jitgemm::testing::simt_variants;
using jitgemm::testing::TemporaryFolder;
using jitgemm::testing::text_in;

struct Sample {
    GemmSpec spec;
    KernelConfig config;
};

constexpr std::array kMmaParameters{"",
                                    "stages=2",
                                    "store=reg,rasterization=zigzag",
                                    "shared=padding,double_buffer=0,rasterization=column",
                                    "split_k=3",
                                    "split_k=3,store=reg,rasterization=row",
                                    "split_k=4,reduction=cluster",
                                    "pack=ab,rasterization=grouped_n",
                                    "pack=a,split_k=2",
                                    "pack=b,split_k=2,store=reg",
                                    "stream_k=132",
                                    "stream_k=132,store=reg,rasterization=row,double_buffer=0",
                                    "stream_k=132,pack=ab,dependent_launch=1"};
constexpr std::array kWmmaParameters{"", "stages=1", "stages=2,double_buffer=0", "async=0,padding=0,l2_prefetch=0",
                                     "stages=1,async=0,double_buffer=0,rasterization=row,cache=ca"};
constexpr std::array kWgmmaParameters{"",
                                      "schedule=pingpong,cluster=2x1",
                                      "schedule=overlapped,rasterization=zigzag",
                                      "schedule=overlapped,store=reg,cluster=1x2",
                                      "schedule=cooperative,store=reg,dependent_launch=1",
                                      "schedule=cooperative,block=128x104x64,warpgroup=64x104,slices=1",
                                      "block=64x8x64,warpgroup=64x8,schedule=cooperative,rasterization=row",
                                      "schedule=pingpong,swizzle=64,stages=4,rasterization=grouped_n"};
constexpr std::array kHierarchicalParameters{"", "double_buffer=0,rasterization=row", "split_k=3,order=even",
                                             "copy=reg,stages=2"};
constexpr std::array kLongKParameters{"", "thread=10x8,split_k=100"};

/// The heuristic's choice among the family's candidates with these parameters; nothing where the problem has none.
void add(std::vector<Sample>& samples, const GemmSpec& spec, std::string_view family, std::string_view parameters) {
    const Selection asked{
        .kernel = {}, .family = std::string(family), .parameters = parse_parameters(std::string(parameters))};
    try {
        samples.push_back({resolved(spec), choose_config(spec, find_gpu("h200"), asked)});
    } catch (const ConfigError&) {
    }
}

GemmSpec spec_of(const char* type, const char* layout, int size, int k) {
    return parse_shape_line(fmt::format("{} {} {} {} {}", type, layout, size, size, k));
}

std::vector<Sample> samples() {
    std::vector<Sample> samples;
    for (const char* layout : {"tn", "nn", "nt", "tt"})
        for (const int size : {512, 510, 511}) {
            GemmSpec half = spec_of(size == 510 ? "f16" : "bf16", layout, size, size + 4);
            GemmSpec with_c = half;
            with_c.c = DataType::f32;
            if (size == 510) with_c.d = DataType::f32;
            GemmSpec f16_sums = spec_of("f16", layout, size, size);
            f16_sums.accumulator = DataType::f16;
            for (const GemmSpec& spec : {half, with_c, f16_sums}) {
                for (const char* parameters : kMmaParameters) add(samples, spec, "mma_multistage", parameters);
                for (const char* parameters : kWmmaParameters) add(samples, spec, "wmma_multistage", parameters);
                for (const char* parameters : kWgmmaParameters)
                    add(samples, spec, "wgmma_warp_specialized", parameters);
            }
            GemmSpec f32 = spec_of("f32", layout, size, size);
            GemmSpec f32_with_c = f32;
            f32_with_c.c = f32_with_c.d = DataType::bf16;
            for (const GemmSpec& spec : {f32, f32_with_c, half}) {
                for (const char* parameters : kHierarchicalParameters)
                    add(samples, spec, "simt_hierarchical", parameters);
                for (const auto& variant : simt_variants()) add(samples, spec, variant.family, variant.parameters);
            }
            GemmSpec long_k = spec_of("f32", layout, 40, 100000 + size);
            for (const char* parameters : kLongKParameters) add(samples, long_k, "simt_long_k", parameters);
            GemmSpec few_rows = parse_shape_line(fmt::format("bf16 {} 8 {} {}", layout, size * 8, size * 8));
            GemmSpec few_with_c = few_rows;
            few_with_c.c = few_with_c.d = DataType::f32;
            for (const GemmSpec& spec : {few_rows, few_with_c})
                for (const std::string_view parameters : testing::kSlicedKVariants)
                    add(samples, spec, "mma_sliced_k", parameters);
        }
    return samples;
}

KernelSource source_of(const Sample& sample) { return generate(sample.spec, sample.config, find_arch("sm_90a")); }

// ---- names -----------------------------------------------------------------------------------------------------------

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

/// Named parameters that a function's body doesn't name.
void check_parameters(const std::string& function, const std::string& list, const std::string& body) {
    // Copies of all kinds are constructed and issued alike, though not each needs the stage or the extent.
    if (function == "issue" || function == "TransposedCopy" || function == "StraightCopy") return;
    const std::map<std::string, int> words = words_of(body);
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t comma = std::min(list.find(',', begin), list.size());
        const std::size_t array = list.find('[', begin);
        const std::string name = word_before(list, std::min(comma, array));
        INFO(function << "(" << list << "): " << name);
        CHECK((words.contains(name)));
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
        CHECK(words.at(name) > 1);
        check_parameters(name, list, code.substr(behind, brace - behind) + inside(code, brace, '{', '}'));
    }
}

/// Types, constants and fields of one line each.
void check_declarations(const std::string& code, const std::map<std::string, int>& words) {
    static const std::regex kDeclared(
        R"(\n *(?:using (\w+) =|struct (?:alignas\([^{]*\) )?(\w+) \{|constexpr \w+ (\w+) =|(?:const )?\w+(?: long)?\*? ([a-z_]\w*);))");
    for (auto at = std::sregex_iterator(code.begin(), code.end(), kDeclared); at != std::sregex_iterator(); ++at)
        for (std::size_t group = 1; group <= 4; ++group) {
            if (!(*at)[group].matched || (*at)[group] == "continue") continue;
            INFO((*at)[group].str());
            CHECK(words.at((*at)[group]) > 1);
        }
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

TEST_CASE("a dump declares nothing that it doesn't use, and decides nothing that is decided") {
    std::map<std::string, Sample> by_name;
    for (const Sample& sample : samples()) by_name.emplace(source_of(sample).name, sample);
    REQUIRE(by_name.size() > 250);
    static const std::regex kDecided(R"(if (?:constexpr )?\((?:true|false|0|1)[ )])");
    for (const auto& [name, sample] : by_name) {
        INFO(name);
        const std::string code = code_of(source_of(sample).body);
        const std::map<std::string, int> words = words_of(code);
        check_functions(code, words);
        check_declarations(code, words);
        CHECK_FALSE(std::regex_search(code, kDecided));
    }
}

TEST_CASE("NVRTC has nothing to say of a dump") {
    const auto compiler = make_nvrtc_compiler(Options::from_environment(), 0, {});
    const std::vector<Sample> all = samples();
    for (std::size_t i = 0; i < all.size(); i += 7) {
        const KernelSource source = source_of(all[i]);
        INFO(source.name);
        CHECK(compiler->compile(ptx_request(source)).log.find("warning") == std::string::npos);
    }
}

TEST_CASE("clang-format leaves dumps as they are") {
    if (!has_clang_format_14()) SKIP_TEST("no clang-format 14: the format of dumps is not tested");
    const TemporaryFolder folder;
    put_text(folder / ".clang-format", text_in(JITGEMM_SOURCE_DIR "/templates/.clang-format"));
    std::vector<std::string> files;
    for (const Sample& sample : samples()) {
        const KernelSource source = source_of(sample);
        files.push_back(folder / (source.name + ".cu"));
        put_text(files.back(), dump(source, sample.spec));
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
