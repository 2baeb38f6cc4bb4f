/// wmma_multistage on the emulator, ingredient by ingredient. Each check is three launches: integers bit for bit with
/// copies early and in order, the same late and shuffled, normal inputs.

#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/wmma_steps.hpp"

#include <array>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Sizes whose packed rows are aligned to 2, 4, 8 and 16 bytes.
constexpr std::array<std::array<std::int64_t, 3>, 4> kSizes{{{67, 33, 75}, {34, 70, 38}, {68, 36, 44}, {72, 40, 104}}};
constexpr std::string_view kTiles = "block=64x32x32,warp=32x16";

void check(const GemmSpec& spec, const std::string& parameters, const VerifyOptions& options = {}) {
    const KernelConfig config = with_parameters({WmmaMultistageConfig{}}, parse_parameters(parameters));
    static_cast<void>(check_kernel(on_emulator(), spec, config, options));
}

/// Each with two alignments, so that the four layouts together go through all of them.
void check_layout(GemmLayout layout) {
    std::size_t turn = static_cast<std::size_t>(layout);
    const auto check_twice = [&](const std::string& parameters) {
        for (const std::size_t i : {turn % kSizes.size(), (turn + 1) % kSizes.size()})
            check(spec_of(layout, kSizes[i][0], kSizes[i][1], kSizes[i][2]), parameters);
        ++turn;
    };
    for (const WmmaStep& step : kWmmaSteps) check_twice(with_tiles(kTiles, step));
    for (const char* variant : kWmmaVariants) check_twice(variant);
}

/// Kernels of this family only.
Selection only_wmma() {
    Selection selection;
    selection.family = "wmma_multistage";
    return selection;
}

}  // namespace

// One case per layout, so that ctest runs them side by side.
TEST_CASE("emulated wmma: every ingredient and alignment, tn") { check_layout(GemmLayout::tn); }
TEST_CASE("emulated wmma: every ingredient and alignment, nn") { check_layout(GemmLayout::nn); }
TEST_CASE("emulated wmma: every ingredient and alignment, nt") { check_layout(GemmLayout::nt); }
TEST_CASE("emulated wmma: every ingredient and alignment, tt") { check_layout(GemmLayout::tt); }

TEST_CASE("emulated wmma: f16 with either accumulator, bf16, every type of D and C, alpha and beta") {
    const VerifyOptions scaled{.alpha = -0.5F, .beta = 2.0F};
    const std::string parameters = with_tiles(kTiles, kWmmaSteps.back());
    for (const DataType d : {DataType::f16, DataType::bf16, DataType::f32}) {
        check(f16(spec_of(GemmLayout::tn, 49, 72, 40), DataType::f16, d), parameters);
        check(f16(spec_of(GemmLayout::nt, 49, 71, 40), DataType::f32, d), parameters, {.alpha = 2.0F});
        for (const DataType c : {DataType::f16, DataType::bf16, DataType::f32}) {
            GemmSpec spec = f16(spec_of(GemmLayout::nn, 49, 40, 64), c == d ? DataType::f16 : DataType::f32, d);
            spec.c = c;
            check(spec, parameters, scaled);
        }
    }
    GemmSpec bf16 = spec_of(GemmLayout::tt, 41, 55, 70);
    bf16.c = DataType::f32;
    bf16.d_order = Order::column;
    check(bf16, parameters, scaled);
    check(bf16, parameters, {.alpha = 1.0F, .beta = 0.0F});
    check(bf16, parameters, {.alpha = 0.0F, .beta = 1.0F});
}

TEST_CASE("emulated wmma: other fragments of f16 in every layout") {
    for (const GemmLayout layout : kLayouts)
        for (const DataType accumulator : {DataType::f16, DataType::f32})
            for (const char* parameters :
                 {"block=32x64x32,warp=32x16,mma=32x8x16", "block=32x64x32,warp=16x32,mma=8x32x16"})
                check(f16(spec_of(layout, 40, 72, 56), accumulator), parameters);
}

TEST_CASE("emulated wmma: odd shapes with whatever the family chooses, and the well-known tiles") {
    const GpuModel& gpu = state_of(on_emulator()).device->model();
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] :
             {std::array<std::int64_t, 3>{1, 1, 1}, {1, 37, 3}, {17, 1, 129}, {41, 55, 100}, {7, 9, 0}}) {
            const GemmSpec spec = spec_of(layout, m, n, k);
            static_cast<void>(check_kernel(on_emulator(), spec, choose_config(problem_of(spec), gpu, only_wmma())));
        }
    static_cast<void>(check_kernel(on_emulator(), f16(spec_of(GemmLayout::tn, 264, 136, 72), DataType::f16),
                                   {WmmaMultistageConfig{}}));
}
