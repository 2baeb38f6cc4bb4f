/// The plain SIMT families on the emulator as a device: exact on integers, within the bound on normal inputs, and no
/// more wavefronts than their anatomy says.

#include "generator/generate.hpp"
#include "runtime/emulator_verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

const std::vector<Sizes> kSizes{{1, 1, 1}, {1, 71, 5}, {73, 1, 33}, {37, 67, 31}, {41, 55, 100}};

GemmSpec f32(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = gemm_spec_of_type(DataType::f32);
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.layout = layout;
    return spec;
}

/// The kernel of a variant with one text of it replaced by another, verified.
EmulatedVerification verdict_of_edited(const SimtVariant& variant, const std::string& from, const std::string& to) {
    const GemmSpec spec = resolved(f32(GemmLayout::tn, 64, 64, 64));
    const KernelSource source = generate(spec, variant.config(), find_arch("sm_80"));
    ParsedDump dump{spec, {signature(spec), variant.config()}, source.arch, source.body};
    const std::size_t found = dump.body.find(from);
    REQUIRE(found != std::string::npos);
    dump.body.replace(found, from.size(), to);
    return verify_emulated(on_emulator().impl(), on_emulator().impl().build(dump));
}

}  // namespace

// One case a layout, so that ctest runs them side by side.
TEST_CASE("emulated SIMT families: every variant, tn") { check_simt_variants(on_emulator(), GemmLayout::tn, kSizes); }
TEST_CASE("emulated SIMT families: every variant, nn") { check_simt_variants(on_emulator(), GemmLayout::nn, kSizes); }
TEST_CASE("emulated SIMT families: every variant, nt") { check_simt_variants(on_emulator(), GemmLayout::nt, kSizes); }
TEST_CASE("emulated SIMT families: every variant, tt") { check_simt_variants(on_emulator(), GemmLayout::tt, kSizes); }

TEST_CASE("emulated SIMT families: alpha of 0 and K of 0 read no operands, beta of 0 no C") {
    GemmSpec spec = f32(GemmLayout::tt, 19, 40, 33);
    spec.c = DataType::f32;
    check_simt_families(on_emulator(), spec, {.alpha = 1.0F, .beta = 0.0F});
    check_simt_families(on_emulator(), spec, {.alpha = 0.0F, .beta = 1.0F});
    spec.k = 0;
    check_simt_families(on_emulator(), spec, {.alpha = 1.0F, .beta = 1.0F});
    spec.c.reset();
    check_simt_families(on_emulator(), spec);
}

TEST_CASE("emulated SIMT families: leading dimensions beyond the row") {
    for (const GemmLayout layout : kLayouts) {
        GemmSpec spec = resolved(f32(layout, 21, 35, 37));
        spec.lda += 3;
        spec.ldb += 5;
        spec.ldd += 7;
        spec.align_a = spec.align_b = spec.align_d = 0;
        check_simt_families(on_emulator(), spec);
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
    for (const char* barrier : {"__syncthreads();                                        // panels",
                                "__syncthreads();                                        // and read"}) {
        const EmulatedVerification verdict = verdict_of_edited({"simt_outer_product", ""}, barrier, "//");
        CHECK_FALSE(verdict.verification.ok);
        CHECK(verdict.fault.has_value());
    }
}
