/// simt_hierarchical on the emulator as a device: exact on integers, within the bound on normal inputs, with all
/// checks, copies done early and late, and no more wavefronts than its anatomy says.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_hierarchical_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

// 64x96x40 is aligned to 16 bytes in every layout, 66x70x18 to 8; the others to an element.
const std::vector<Sizes> kSizes{{1, 1, 1}, {64, 96, 40}, {37, 67, 31}, {66, 70, 18}};

}  // namespace

TEST_CASE("emulated simt_hierarchical: every variant, tn") {
    check_hierarchical_variants(on_emulator(), GemmLayout::tn, kSizes, Share::half);
}
TEST_CASE("emulated simt_hierarchical: every variant, nn") {
    check_hierarchical_variants(on_emulator(), GemmLayout::nn, kSizes, Share::half);
}
TEST_CASE("emulated simt_hierarchical: every variant, nt") {
    check_hierarchical_variants(on_emulator(), GemmLayout::nt, kSizes, Share::half);
}
TEST_CASE("emulated simt_hierarchical: every variant, tt") {
    check_hierarchical_variants(on_emulator(), GemmLayout::tt, kSizes, Share::half);
}

TEST_CASE("emulated simt_hierarchical: whole tiles, unpredicated, with fewer k-tiles than stages too") {
    for (const GemmLayout layout : kLayouts)
        for (const auto& [k, parameters] : {std::pair{96, "stages=3"},
                                            {32, "stages=4,double_buffer=0"},
                                            {160, "stages=2,split_k=3"},
                                            {0, "stages=2"}}) {
            const std::string tiles =
                "block=32x64x16,warp=16x32,thread=4x4,copy_slices=3,min_blocks_per_sm=1,predicated=0,";
            const KernelConfig config =
                with_parameters({SimtHierarchicalConfig{}}, parse_parameters(tiles + parameters));
            static_cast<void>(check_kernel(on_emulator(), spec_of(layout, 64, 128, k, DataType::f32), config));
        }
}

TEST_CASE(
    "emulated simt_hierarchical: remainder tiles of every number, with few k-tiles and none, C, padding and D by "
    "columns") {
    std::size_t i = 0;
    for (const std::int64_t n : {32, 64, 96, 128, 150})  // tiles of one row of tiles: 1 to 5
        for (const std::int64_t k : {0, 5, 16, 33, 80, 200})
            for (const char* wave : {"2", "3", "7", "100"}) {
                GemmSpec spec = spec_of(kLayouts[i++ % kLayouts.size()], 30, n, k, DataType::f32);
                if (i % 2 == 0) spec.c = DataType::f32;
                if (i % 3 == 0) spec.d_order = Order::column;
                const std::int64_t tiles = (n + 31) / 32;
                if (tiles % std::stoi(wave) == 0) continue;
                const KernelConfig config = with_parameters(
                    {SimtHierarchicalConfig{}},
                    parse_parameters(
                        std::string(
                            "block=32x32x16,warp=16x32,thread=4x4,copy_slices=2,min_blocks_per_sm=1,blocks_per_wave=") +
                        wave));
                INFO(to_string(spec) << ", wave " << wave);
                const VerifyOptions options{.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F};
                static_cast<void>(check_kernel(on_emulator(), with_row_padding(spec, {.a = 1, .b = 2, .c = 3, .d = 5}),
                                               config, options));
            }
}

TEST_CASE(
    "emulated simt_hierarchical: beta of 0 reads no C, alpha of 0 and K of 0 no operands. Leading dimensions beyond "
    "the row") {
    const auto check = [](const GemmSpec& spec, const VerifyOptions& options) {
        static_cast<void>(check_chosen(on_emulator(), spec, options));
    };
    check_unread_operands(spec_of(GemmLayout::tn, 41, 55, 100, DataType::f32), check);
    for (const GemmLayout layout : kLayouts) {
        GemmSpec spec = spec_of(layout, 41, 55, 100, DataType::f32);
        spec.c = DataType::f32;
        check(with_row_padding(spec, {.a = 3, .b = 5, .c = 1, .d = 7}), {.alpha = 1.0F, .beta = 1.0F});
    }
}

TEST_CASE("emulated simt_hierarchical: launches that begin early, a block per SM") {
    Context hopper(emulator_options("sm_90a"));
    for (const GemmLayout layout : kLayouts)
        for (const char* parameters : {"split_k=3,dependent_launch=1", "blocks_per_wave=7,dependent_launch=1"}) {
            KernelConfig config = with_parameters(
                {SimtHierarchicalConfig{}}, parse_parameters("block=32x32x16,warp=16x32,thread=4x4,copy_slices=2"));
            config = with_parameters(config, parse_parameters(parameters));
            static_cast<void>(check_kernel(hopper, spec_of(layout, 130, 101, 75, DataType::f32), config));
        }
}
