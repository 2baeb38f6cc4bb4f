/// simt_hierarchical on the emulator as a device: exact on integers, within the bound on normal inputs, with all checks, copies
/// done early and late, and no more wavefronts than its anatomy says.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_hierarchical_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

// 64x96x40 is aligned to 16 bytes in every layout, 66x70x18 to 8; the others to an element.
const std::vector<std::array<std::int64_t, 3>> kSizes{{1, 1, 1}, {64, 96, 40}, {37, 67, 31}, {66, 70, 18}};

}  // namespace

TEST_CASE("emulated simt_hierarchical: every variant, tn") {
    check_hierarchical_variants(on_emulator(), GemmLayout::tn, kSizes);
}
TEST_CASE("emulated simt_hierarchical: every variant, nn") {
    check_hierarchical_variants(on_emulator(), GemmLayout::nn, kSizes);
}
TEST_CASE("emulated simt_hierarchical: every variant, nt") {
    check_hierarchical_variants(on_emulator(), GemmLayout::nt, kSizes);
}
TEST_CASE("emulated simt_hierarchical: every variant, tt") {
    check_hierarchical_variants(on_emulator(), GemmLayout::tt, kSizes);
}

TEST_CASE(
    "emulated simt_hierarchical: beta of 0 reads no C, alpha of 0 and K of 0 no operands; leading dimensions beyond "
    "the row") {
    GemmSpec spec = gemm_spec_of_type(DataType::f32);
    spec.m = 41;
    spec.n = 55;
    spec.k = 100;
    spec.c = DataType::f32;
    check_chosen(on_emulator(), spec, {.alpha = 1.0F, .beta = 0.0F});
    check_chosen(on_emulator(), spec, {.alpha = 0.0F, .beta = 1.0F});
    for (const GemmLayout layout : kLayouts) {
        GemmSpec wide = spec;
        wide.layout = layout;
        wide = resolved(wide);
        wide.lda += 3;
        wide.ldb += 5;
        wide.ldc += 1;
        wide.ldd += 7;
        wide.align_a = wide.align_b = wide.align_c = wide.align_d = 0;
        check_chosen(on_emulator(), wide, {.alpha = 1.0F, .beta = 1.0F});
    }
    spec.k = 0;
    check_chosen(on_emulator(), spec, {.alpha = 1.0F, .beta = 1.0F});
}
