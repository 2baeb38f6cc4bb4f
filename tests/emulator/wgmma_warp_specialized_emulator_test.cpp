/// wgmma_warp_specialized on the emulator: every variant over residues, layouts and types, with copies early and in order, late and
/// shuffled.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/wgmma_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& on_hopper() {
    static Context context(emulator_options("sm_90a"));
    return context;
}

void check_layout(GemmLayout layout) { check_wgmma_variants(on_hopper(), layout, {{65, 72, 129}, {130, 263, 75}}); }

}  // namespace

// One case per layout, so that ctest runs them side by side.
TEST_CASE("emulated wgmma: every variant, tn") { check_layout(GemmLayout::tn); }
TEST_CASE("emulated wgmma: every variant, nn") { check_layout(GemmLayout::nn); }
TEST_CASE("emulated wgmma: every variant, nt") { check_layout(GemmLayout::nt); }
TEST_CASE("emulated wgmma: every variant, tt") { check_layout(GemmLayout::tt); }

TEST_CASE("emulated wgmma: beta of 0 reads no C, alpha of 0 and K of 0 read no operands") {
    for (const std::string_view variant : kWgmmaVariants)
        check_unread_operands(spec_of(GemmLayout::nt, 64, 72, 64),
                              [&](const GemmSpec& spec, const VerifyOptions& options) {
                                  check_wgmma(on_hopper(), spec, variant, options);
                              });
}
