/// Names that a text gives its operands, among all names of the kernels that they are written into.

#include "generator/epilogue/names.hpp"
#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/simt_variants.hpp"

#include "runtime/compiler/compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::string_view kText =
    "of_launch: f32; of_row: f16[m]; all: f32[0]; d = select(acc > of_launch, tanh(acc), gelu(of_column[n])) * "
    "fast(silu(of_row[m])) * all[0] + of_each[m,n]";

/// Kernels that read operands in different ways.
struct Reader {
    std::string_view line;
    std::string_view family;
    std::string_view parameters;
};

std::vector<Reader> readers() {
    constexpr std::string_view kHalf = "bf16 tn 512 512 512", kSingle = "f32 tn 512 512 512";
    std::vector<Reader> all{{kHalf, "mma_multistage", ""},
                            {kHalf, "mma_multistage", "split_k=3"},
                            {kHalf, "wmma_multistage", ""},
                            {"bf16 tn 8 4096 4096", "mma_sliced_k", ""},
                            {"f32 tn 40 40 100000", "simt_long_k", ""},
                            {kSingle, "simt_hierarchical", ""},
                            {kHalf, "wgmma_warp_specialized", "schedule=cooperative"},
                            {kHalf, "wgmma_warp_specialized", "schedule=pingpong,stream_k=132"},
                            {kHalf, "wgmma_warp_specialized", "schedule=overlapped"},
                            {kHalf, "wgmma_warp_specialized", "schedule=cooperative,store=smem"},
                            {kHalf, "wgmma_warp_specialized", "swap_ab=1"}};
    for (const std::string_view family : kSimtFamilies) all.push_back({kSingle, family, ""});
    return all;
}

KernelSource kernel_of(const Reader& reader, const std::string& text) {
    GemmSpec spec = parse_shape_line(reader.line);
    spec.epilogue = text;
    const Problem problem = problem_of(spec);
    const Selection selection{.kernel = {},
                              .family = std::string(reader.family),
                              .parameters = parse_parameters(std::string(reader.parameters))};
    return generate(problem, choose_config(problem, find_gpu("h200"), selection), find_arch("sm_90a"));
}

std::set<std::string> names_in(const std::string& body) {
    const std::string code = std::regex_replace(body, std::regex("//[^\n]*"), "");
    const std::regex name("[A-Za-z_][A-Za-z_0-9]*");
    std::set<std::string> names;
    for (std::sregex_iterator one(code.begin(), code.end(), name), end; one != end; ++one) names.insert(one->str());
    return names;
}

/// A text whose operands have these names and all kinds of indices.
std::string text_with(const std::vector<std::string>& names) {
    constexpr std::array<std::string_view, 5> kIndices{"[m,n]", "[n]", "[m]", "[0]", ""};
    std::string declarations, sum = "d = acc";
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view index = kIndices.at(i % kIndices.size());
        declarations += fmt::format("{}: f32{}; ", names[i], index);
        sum += fmt::format(" + {}{}", names[i], index);
    }
    return declarations + sum;
}

/// A text whose outputs have these names: matrices of both sizes of elements, and reductions.
std::string text_storing(const std::vector<std::string>& names) {
    std::string declarations, text = "d = acc";
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string& name = names[i];
        if (i % 4 == 0) declarations += fmt::format("{}: f32[m,n]; ", name);
        text += i % 4 < 2    ? fmt::format("; {}[m,n] = acc * {}", name, i + 2)
                : i % 4 == 2 ? fmt::format("; {}[n] = sum(acc)", name)
                             : fmt::format("; {}[m] = max(acc)", name);
    }
    return declarations + text;
}

/// NVRTC's error for a kernel, or "".
std::string complaint(const KernelSource& source) {
    static const auto kCompiler = make_nvrtc_compiler(Options::from_environment(), 0, {});
    try {
        static_cast<void>(kCompiler->compile(ptx_request(source)));
        return {};
    } catch (const CompileError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("an operand may have any name that the language allows, in every family", "[heavy]") {
    constexpr std::size_t kMost = 15;  // of one text
    std::set<std::string> refused;
    std::map<std::string_view, std::set<std::string>> known;  // of a family, the names that one of its kernels had
    OneIn tried(2);
    for (const Reader& reader : readers()) {
        std::vector<std::string> allowed;
        for (const std::string& name : names_in(kernel_of(reader, std::string(kText)).body)) {
            if (name == "d" || !wrong_name(name).empty())
                refused.insert(name);
            else if (known[reader.family].insert(name).second)
                allowed.push_back(name);
        }
        CHECK(known[reader.family].size() > kMost);
        for (std::size_t first = 0; first < allowed.size(); first += kMost) {
            if (!tried.next()) continue;
            const auto begin = allowed.begin() + static_cast<std::ptrdiff_t>(first);
            const std::vector<std::string> names(
                begin, begin + static_cast<std::ptrdiff_t>(std::min(kMost, allowed.size() - first)));
            INFO(reader.family << " " << reader.parameters);
            CHECK(complaint(kernel_of(reader, text_with(names))).empty());
        }
    }
    for (const char* const name : {"ElementD", "GemmArgs", "ld_of_each", "map_a", "finish", "counters"}) {
        INFO(name);
        CHECK(refused.contains(name));
    }
}

TEST_CASE("an output may have any name that the language allows", "[heavy]") {
    constexpr std::size_t kMost = 4;  // of one text
    const std::string text = text_storing({"wide", "narrow", "by_column", "by_row"});
    const std::string_view half = "bf16 tn 512 512 512";
    OneIn tried(3);
    for (const Reader& reader : {Reader{half, "mma_multistage", ""}, Reader{half, "wgmma_warp_specialized", ""},
                                 Reader{half, "wgmma_warp_specialized", "swap_ab=1"}}) {
        std::vector<std::string> allowed;
        for (const std::string& name : names_in(kernel_of(reader, text).body))
            if (name != "d" && wrong_name(name).empty()) allowed.push_back(name);
        CHECK(allowed.size() > 10 * kMost);
        for (std::size_t first = 0; first < allowed.size(); first += kMost) {
            if (!tried.next()) continue;
            const auto begin = allowed.begin() + static_cast<std::ptrdiff_t>(first);
            const std::vector<std::string> names(
                begin, begin + static_cast<std::ptrdiff_t>(std::min(kMost, allowed.size() - first)));
            INFO(reader.family << " " << reader.parameters << ": " << text_storing(names));
            CHECK(complaint(kernel_of(reader, text_storing(names))).empty());
        }
    }
    CHECK(complaint(kernel_of({half, "wgmma_warp_specialized", ""}, text_storing({"pre", "Pre"}))).empty());
    CHECK(complaint(
              kernel_of({half, "mma_multistage", ""}, "t = silu(left(acc)) * right(acc); d = t; norm[h] = sum(t * t)"))
              .empty());
}
