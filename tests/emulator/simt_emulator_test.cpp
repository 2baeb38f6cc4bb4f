/// The plain SIMT families on the emulator as a device: exact on integers, within the bound on normal inputs, and no
/// more wavefronts than their anatomy says.

#include "generator/generate.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

const std::vector<Sizes> kSizes{{1, 1, 1}, {1, 71, 5}, {73, 1, 33}, {37, 67, 31}, {41, 55, 100}};

/// The kernel of a variant with one text of it replaced by another, verified.
EmulatedVerification verdict_of_edited(const SimtVariant& variant, const std::string& from, const std::string& to) {
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 64, 64, 64, DataType::f32));
    const KernelSource source = generate(problem_of(spec), variant.config(), find_arch("sm_80"));
    ParsedDump dump{spec, {problem_of(spec).signature, variant.config()}, source.arch, source.body};
    const std::size_t found = dump.body.find(from);
    REQUIRE(found != std::string::npos);
    dump.body.replace(found, from.size(), to);
    return verify_emulated(state_of(on_emulator()), state_of(on_emulator()).build(dump));
}

}  // namespace

// One case per layout, so that ctest runs them side by side.
TEST_CASE("emulated SIMT families: every variant, tn") {
    check_simt_variants(on_emulator(), GemmLayout::tn, kSizes, Share::half);
}
TEST_CASE("emulated SIMT families: every variant, nn") {
    check_simt_variants(on_emulator(), GemmLayout::nn, kSizes, Share::half);
}
TEST_CASE("emulated SIMT families: every variant, nt") {
    check_simt_variants(on_emulator(), GemmLayout::nt, kSizes, Share::half);
}
TEST_CASE("emulated SIMT families: every variant, tt") {
    check_simt_variants(on_emulator(), GemmLayout::tt, kSizes, Share::half);
}

TEST_CASE("emulated SIMT families: alpha of 0 and K of 0 read no operands, beta of 0 no C") {
    check_unread_operands(
        spec_of(GemmLayout::tt, 19, 40, 33, DataType::f32),
        [](const GemmSpec& spec, const VerifyOptions& options) { check_simt_families(on_emulator(), spec, options); });
}

TEST_CASE("emulated SIMT families: leading dimensions beyond the row") {
    for (const GemmLayout layout : kLayouts) {
        const GemmSpec spec = spec_of(layout, 21, 35, 37, DataType::f32);
        check_simt_families(on_emulator(), with_row_padding(spec, {.a = 3, .b = 5, .d = 7}));
    }
}

TEST_CASE("emulated SIMT families: without its padding the panel of B conflicts, and that is seen") {
    const SimtVariant variant{"simt_outer_product", ""};
    CHECK(verdict_of_edited(variant, "kBlockK + 1;", "kBlockK + 1;").verification.ok);
    const EmulatedVerification verdict = verdict_of_edited(variant, "kBlockK + 1;", "kBlockK;");
    CHECK_FALSE(verdict.verification.ok);
    CHECK_THAT(verdict.verification.message, ContainsSubstring("takes 32.00 wavefronts"));
}

TEST_CASE("emulated SIMT families: either barrier is missed") {
    for (const char* barrier :
         {"__syncthreads();  // all threads have written", "__syncthreads();  // all threads have read"}) {
        const EmulatedVerification verdict = verdict_of_edited({"simt_outer_product", ""}, barrier, "//");
        CHECK_FALSE(verdict.verification.ok);
        CHECK(verdict.fault.has_value());
    }
}
