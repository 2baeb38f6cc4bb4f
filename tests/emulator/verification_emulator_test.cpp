/// Verification must notice these faults for every problem and all scalars: a kernel that drops the end of K where
/// D has one element, one that takes alpha or beta for 1, and one that reads a C that it must not.

#include "generator/generate.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

ParsedDump multistage_dump(const GemmSpec& spec, const std::string& parameters) {
    const GemmSpec asked = resolved(spec);
    const KernelConfig config = with_parameters({MmaMultistageConfig{}}, parse_parameters(parameters));
    const KernelSource source = generate(problem_of(asked), config, find_arch("sm_80"));
    return {asked, {problem_of(asked).signature, config}, source.arch, source.body};
}

using Changes = std::vector<std::pair<std::string_view, std::string_view>>;

Verification verdict_on(ParsedDump dump, const Changes& changes) {
    for (const auto& [from, to] : changes) {
        const std::size_t at = dump.body.find(from);
        REQUIRE(at != std::string::npos);
        dump.body.replace(at, from.size(), to);
    }
    ContextState& context = state_of(on_emulator());
    const VerifyOptions usual{.alpha = 1.0F, .beta = dump.spec.c ? 1.0F : 0.0F};
    return verify_emulated(context, context.build(dump), usual).verification;
}

}  // namespace

TEST_CASE("a kernel that drops the last k-tile is noticed where D has one element, whatever the types") {
    for (const DataType type : {DataType::f16, DataType::bf16}) {
        for (const std::int64_t k : {129, 257, 4097}) {
            GemmSpec spec{.m = 1, .n = 1, .k = k, .a = type, .b = type, .d = type};
            const ParsedDump dump = multistage_dump(spec, "block=32x32x128,warp=16x16,split_k=1");
            INFO(to_string(dump.spec));
            CHECK(verdict_on(dump, {}).ok);
            CHECK_FALSE(verdict_on(dump, {{"(args.k + (kBlockK - 1ll)) / kBlockK", "args.k / kBlockK"}}).ok);
        }
    }
}

TEST_CASE("a kernel that is right for alpha = 1 and beta = 1 alone is noticed with these scalars") {
    const GemmSpec spec{.m = 33, .n = 20, .k = 40, .c = DataType::f32};
    const ParsedDump dump = multistage_dump(spec, "split_k=1");
    CHECK(verdict_on(dump, {}).ok);
    SECTION("it ignores alpha") { CHECK_FALSE(verdict_on(dump, {{"args.alpha * sum", "sum"}}).ok); }
    SECTION("it ignores beta but for 0") {
        CHECK_FALSE(verdict_on(dump, {{"fmaf(args.beta, c()", "fmaf(1.0f, c()"}}).ok);
    }
    SECTION("it reads C although beta is 0") {
        CHECK_FALSE(verdict_on(dump, {{"if (c_factor(args) != 0.0f) d =", "d ="},
                                      {"if (c_factor(output) != 0.0f && row", "if (row"}})
                        .ok);
    }
}

TEST_CASE("a kernel without C that ignores alpha is noticed with alpha = 1") {
    const ParsedDump dump = multistage_dump({.m = 33, .n = 20, .k = 40}, "split_k=1");
    CHECK(verdict_on(dump, {}).ok);
    CHECK_FALSE(verdict_on(dump, {{"args.alpha * sum", "sum"}}).ok);
}
