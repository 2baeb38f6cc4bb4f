/// The plain SIMT families on the emulator as a device: exact on integers, within the bound on normal inputs, and no
/// more wavefronts than their anatomy says.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

const std::vector<Sizes> kSizes{{1, 1, 1}, {1, 71, 5}, {73, 1, 33}, {37, 67, 31}, {41, 55, 100}};

GemmSpec f32(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = gemm_spec_of_type(DataType::f32);
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.layout = layout;
    return spec;
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
