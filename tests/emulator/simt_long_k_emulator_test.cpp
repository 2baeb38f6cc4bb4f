/// simt_long_k on the emulator as a device: exact on integers, within the bound on normal inputs, with all checks,
/// copies done early and late, and no more wavefronts than its anatomy says.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_long_k_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

// 32x40x1024 is aligned to 16 bytes in every layout, 10x22x662 to 8; the others to an element. 37x67 is several block
// tiles of most variants.
const std::vector<Sizes> kLongKSizes{{1, 1, 1}, {32, 40, 1024}, {5, 3, 1531}, {37, 67, 257}, {10, 22, 662}};

}  // namespace

TEST_CASE("emulated simt_long_k: every variant, tn") {
    check_long_k_variants(on_emulator(), GemmLayout::tn, kLongKSizes, Share::half);
}
TEST_CASE("emulated simt_long_k: every variant, nn") {
    check_long_k_variants(on_emulator(), GemmLayout::nn, kLongKSizes, Share::half);
}
TEST_CASE("emulated simt_long_k: every variant, nt") {
    check_long_k_variants(on_emulator(), GemmLayout::nt, kLongKSizes, Share::half);
}
TEST_CASE("emulated simt_long_k: every variant, tt") {
    check_long_k_variants(on_emulator(), GemmLayout::tt, kLongKSizes, Share::half);
}

TEST_CASE("emulated simt_long_k: beta of 0 reads no C, alpha of 0 and K of 0 no operands") {
    const KernelConfig config = with_parameters({SimtLongKConfig{}}, parse_parameters(kLongKVariants[0]));
    check_unread_operands(spec_of(GemmLayout::nt, 21, 35, 200, DataType::f32),
                          [&](const GemmSpec& spec, const VerifyOptions& options) {
                              static_cast<void>(check_kernel(on_emulator(), spec, config, options));
                          });
}

TEST_CASE("emulated simt_long_k: the heuristic's choices for a K just long enough") {
    for (const GemmLayout layout : kLayouts) {
        const GemmKernel kernel = check_chosen(on_emulator(), spec_of(layout, 7, 12, 16387, DataType::f32));
        CHECK(kernel.info().name.starts_with("simt_long_k_"));
    }
}

TEST_CASE("emulated simt_long_k: launches that begin early") {
    for (const GemmLayout layout : kLayouts) {
        const KernelConfig config = with_parameters(
            {SimtLongKConfig{}}, parse_parameters("thread=3x5,lanes=1x1x32,warps=2,block_k=512,stages=2,split_k=5,"
                                                  "dependent_launch=1"));
        static_cast<void>(check_kernel(on_hopper(), spec_of(layout, 5, 13, 2600, DataType::f32), config));
    }
}
