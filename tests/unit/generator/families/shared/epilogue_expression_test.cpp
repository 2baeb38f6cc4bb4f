/// alpha, beta and C are combined in one place: `finish`, which the generator writes into each kernel.

#include "generator/base/renderer.hpp"
#include "tests/catch.hpp"
#include "tests/support/dump_samples.hpp"

#include <regex>
#include <set>
#include <string>
#include <utility>

namespace {

using namespace jitgemm;
using jitgemm::testing::dump_samples;
using jitgemm::testing::DumpSample;
using jitgemm::testing::SampleExtent;

/// Without comments and without the struct of arguments.
std::string epilogue_code_of(const std::string& body) {
    std::string code = std::regex_replace(body, std::regex("//[^\n]*"), "");
    const std::size_t begin = code.find("struct GemmArgs {");
    if (begin == std::string::npos) return code;
    return code.substr(0, begin) + code.substr(code.find("};", begin));
}

int occurrences(const std::string& code, const std::string& word) {
    const std::regex whole_word("\\b" + word + "\\b");
    return static_cast<int>(
        std::distance(std::sregex_iterator(code.begin(), code.end(), whole_word), std::sregex_iterator()));
}

}  // namespace

TEST_CASE("a kernel of any family scales its sums in one place") {
    std::set<std::string> kinds;  // one kernel of each family without C, with C and with C of one row
    for (const DumpSample& sample : dump_samples(SampleExtent::one_layout)) {
        const std::string family(family_name(sample.config));
        const std::string kind =
            family + (sample.spec.c ? " with C" : "") + (sample.spec.broadcast_c ? " of one row" : "");
        if (!kinds.insert(kind).second) continue;
        const KernelSource source = sample.source();
        INFO(source.name);
        const std::string code = epilogue_code_of(source.body);
        CHECK(occurrences(code, "alpha") == 1);
        CHECK(code.find("finish(") != std::string::npos);
        if (!sample.spec.c) CHECK(occurrences(code, "beta") == 0);
    }
    CHECK(kinds.size() > family_table().size());
}

TEST_CASE("no template but a default names alpha or beta") {
    for (const auto& [name, text] : TemplateSet::embedded().files()) {
        if (name.rfind("defaults/", 0) == 0) continue;
        INFO(name);
        const std::string code = epilogue_code_of(text);
        CHECK(occurrences(code, "alpha") == 0);
        if (name != "scheduler/remainder_tiles.cuh") CHECK(occurrences(code, "beta") == 0);
    }
}
