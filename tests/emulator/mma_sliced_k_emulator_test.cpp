/// mma_sliced_k on the emulator: every variant over layouts, types and sizes, with copies early and in order, late and
/// shuffled.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/sliced_k_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

// Nothing and less than a tile of the long operand, many tiles; less than a panel of K, several k-tiles and a part of
// one.
void check_layout(GemmLayout layout) {
    check_sliced_k_variants(on_hopper(), layout, {{1, 40}, {77, 328}, {1000, 136}, {130, 1100}}, Share::half);
}

/// A change of text that makes a correct kernel wrong.
struct PlantedFault {
    const char* name;
    const char* text;
    const char* instead;
};
constexpr const char* kFaulty = "block=16x8x128,swap_ab=1,stages=3,early=1";
constexpr PlantedFault kPlantedFaults[] = {
    {"warps don't wait for a stage", "mbarrier_wait(ring.full_barrier(stage), phase);", ""},
    {"the phase never turns", "phase ^= 1;", ""},
    {"fewer bytes are announced than arrive", "mbarrier_arrive_expect(full_barrier(to), kStageBytes);",
     "mbarrier_arrive_expect(full_barrier(to), kStageBytes - 16);"},
    {"sums are read before all warps have laid them out", "kSumsOfAWarp, lane);\n        __syncthreads();",
     "kSumsOfAWarp, lane);"},
    {"sums are overwritten while they are read", "__syncthreads();  // the previous tile's sums have been read", ""},
    {"the few rows are fetched before the previous kernel has ended",
     "wait_on_dependent_grids();  // the previous kernel", "//"},
    {"a warp adds another one's panel", "k_tile * kBlockK + panel * kPanelK", "k_tile * kBlockK"},
    {"the next tile's panels are the last one's", "        tile += gridDim.x;\n    }", "    }"},
    {"chunks are read as if TMA didn't permute them", "offset ^ (offset >> 3 & (kLineBytes - 16))", "offset"},
};

/// Verification's complaint about the kernel with its text changed, or "" if it passes.
std::string complaint(const PlantedFault& fault) {
    GemmSpec spec = resolved(spec_of(GemmLayout::tn, 7, 4000, 1000));
    spec.constant_b = true;
    const KernelConfig config = with_parameters({MmaSlicedKConfig{}}, parse_parameters(kFaulty));
    return complaint_about(on_hopper(), spec, config, fault.text, fault.instead);
}

}  // namespace

TEST_CASE("emulated sliced-K: planted faults are found") {
    for (const PlantedFault& fault : kPlantedFaults) {
        INFO(fault.name);
        const std::string found = complaint(fault);
        INFO(found);
        CHECK_FALSE(found.empty());
    }
}

// One case per layout, so that ctest runs them side by side.
TEST_CASE("emulated sliced-K: every variant, tn") { check_layout(GemmLayout::tn); }
TEST_CASE("emulated sliced-K: every variant, nn") { check_layout(GemmLayout::nn); }
TEST_CASE("emulated sliced-K: every variant, nt") { check_layout(GemmLayout::nt); }
TEST_CASE("emulated sliced-K: every variant, tt") { check_layout(GemmLayout::tt); }

TEST_CASE("emulated sliced-K: beta of 0 reads no C, alpha of 0 and K of 0 read no operands") {
    for (const std::string_view variant : kSlicedKVariants)
        check_unread_operands(spec_of(GemmLayout::nt, 8, 8, 64),
                              [&](const GemmSpec& spec, const VerifyOptions& options) {
                                  check_sliced_k(on_hopper(), spec, variant, options);
                              });
}

TEST_CASE("emulated sliced-K: blocks that take several tiles") {
    for (const std::string_view variant : kSlicedKVariants) {
        const bool few_rows = variant.find("swap_ab=1") != std::string_view::npos;
        check_sliced_k(on_hopper(), spec_of(GemmLayout::tn, few_rows ? 8 : 9000, few_rows ? 9000 : 8, 264), variant);
    }
}
