/// wmma_multistage on a GPU: every ingredient, fragment shape, type and alignment, exact and on normal inputs.

#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/wmma_steps.hpp"

#include <array>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::string_view kSmallTiles = "block=64x32x32,warp=32x16";
constexpr std::string_view kUsualTiles = "block=256x128x32,warp=64x64";

Context& context() {
    static Context shared;
    return shared;
}

void check(const GemmSpec& spec, const std::string& parameters, const VerifyOptions& options = {}) {
    const KernelConfig config = with_parameters({WmmaMultistageConfig{}}, parse_parameters(parameters));
    static_cast<void>(check_kernel(context(), spec, config, options));
}

/// Kernels of this family only.
Selection only_wmma() {
    Selection selection;
    selection.family = "wmma_multistage";
    return selection;
}

void check_chosen(const GemmSpec& spec, const VerifyOptions& options = {}) {
    const KernelConfig config = choose_config(problem_of(spec), state_of(context()).device->model(), only_wmma());
    CHECK(check_kernel(context(), spec, config, options).info().spill_bytes == 0);
}

}  // namespace

TEST_CASE("wmma: every ingredient is right over layouts and alignments") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] :
             {std::array<std::int64_t, 3>{97, 131, 75}, {130, 66, 98}, {100, 68, 44}, {136, 72, 136}}) {
            for (const WmmaStep& step : kWmmaSteps) check(spec_of(layout, m, n, k), with_tiles(kSmallTiles, step));
            for (const char* variant : kWmmaVariants) check(spec_of(layout, m, n, k), variant);
        }
}

TEST_CASE("wmma: the well-known tiles, step by step, spill nothing and are right") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const DataType accumulator : {DataType::f16, DataType::f32})
            for (const WmmaStep& step : kWmmaSteps) {
                const GemmSpec spec = f16(spec_of(layout, 1000, 776, 520), accumulator);
                const auto config =
                    with_parameters({WmmaMultistageConfig{}}, parse_parameters(with_tiles(kUsualTiles, step)));
                INFO(step.name);
                CHECK(check_kernel(context(), spec, config).info().spill_bytes == 0);
            }
}

TEST_CASE("wmma: fragments of 32x8x16 and 8x32x16 in every layout and type") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const char* parameters :
             {"block=64x64x32,warp=32x32,mma=32x8x16", "block=64x64x32,warp=32x32,mma=8x32x16,padding=16"}) {
            check(f16(spec_of(layout, 200, 136, 104), DataType::f16), parameters);
            check(f16(spec_of(layout, 200, 136, 104), DataType::f32), parameters);
            check(spec_of(layout, 201, 135, 103), parameters);
        }
}

TEST_CASE("wmma: the chosen kernel is right from 1x1x1 up, with C, alpha, beta and both orders of D") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts) {
        for (const auto& [m, n, k] :
             {std::array<std::int64_t, 3>{1, 1, 1}, {1, 8, 7}, {7, 1, 129}, {41, 55, 1000}, {513, 511, 1}})
            check_chosen(spec_of(layout, m, n, k), {.use_cpu = true});
        for (const DataType c : {DataType::f16, DataType::bf16, DataType::f32})
            for (const DataType d : {DataType::f16, DataType::bf16, DataType::f32})
                for (const Order order : {Order::row, Order::column}) {
                    GemmSpec spec = spec_of(layout, 97, 136, 64);
                    spec.c = c;
                    spec.d = d;
                    spec.d_order = order;
                    check_chosen(spec, {.alpha = -0.5F, .beta = 2.0F});
                }
    }
}

TEST_CASE("wmma: long grids") {
    REQUIRE_GPU();
    check_chosen(spec_of(GemmLayout::tn, 5'000'000, 8, 8));
    check_chosen(spec_of(GemmLayout::nt, 8, 5'000'000, 8));
}
