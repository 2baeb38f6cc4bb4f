/// mma_multistage on a GPU: every layout, alignment, epilogue and pipeline over awkward shapes, exact and on normal
/// inputs.

#include "generator/heuristics.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/gpu/streams_and_replays.hpp"
#include "tests/support/kernel_checks.hpp"

#include <array>
#include <random>

namespace {

using namespace jitgemm;

using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

GemmKernel check_kernel(const GemmSpec& spec, const KernelConfig& config, const VerifyOptions& options = {}) {
    return testing::check_kernel(context(), spec, config, options);
}

void check_chosen(const GemmSpec& spec, const VerifyOptions& options = {}) {
    CHECK(testing::check_chosen(context(), spec, options).info().spill_bytes == 0);
}

void check_with(const GemmSpec& spec, const std::string& parameters, const VerifyOptions& options = {}) {
    static_cast<void>(testing::check_with(context(), spec, parameters, options));
}

}  // namespace

TEST_CASE("every variant is right over odd shapes, layouts and alignments") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const char* variant : kVariants)
            for (const auto& [m, n, k] :
                 {std::array<std::int64_t, 3>{97, 131, 75}, {130, 66, 98}, {100, 68, 44}, {136, 72, 136}})
                check_with(spec_of(layout, m, n, k), variant);
}

TEST_CASE("splits that add up in a cluster are right over odd shapes, layouts and alignments") {
    REQUIRE_GPU();
    if (state_of(context()).device->model().arch->max_cluster_blocks == 0) SKIP_TEST("this GPU has no clusters");
    const VerifyOptions scaled{.alpha = -0.5F, .beta = 2.0F};
    for (const GemmLayout layout : kLayouts)
        for (const char* variant : kClusterVariants) {
            for (const auto& [m, n, k] :
                 {std::array<std::int64_t, 3>{97, 131, 1075}, {130, 66, 98}, {100, 68, 44}, {136, 72, 2136}, {1, 1, 1}})
                check_with(spec_of(layout, m, n, k), variant);
            GemmSpec with_c = spec_of(layout, 65, 67, 512);
            with_c.c = DataType::f32;
            check_with(with_c, variant, scaled);
            check_with(f16(spec_of(layout, 120, 200, 720), DataType::f16), variant);
            check_with(spec_of(layout, 40, 48, 0), variant);
        }
    check_with(spec_of(GemmLayout::tn, 129, 65, 4096), "block=64x64x32,warp=32x32,split_k=16,reduction=cluster");
}

TEST_CASE("packed operands are right in every layout") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts) {
        check_with(spec_of(layout, 97, 131, 75), "block=64x64x32,warp=32x32,stages=3,pack=ab");
        check_with(spec_of(layout, 97, 131, 75), "block=64x64x32,warp=32x32,stages=3,pack=b,split_k=2");
    }
}

TEST_CASE("the chosen kernel is right from 1x1x1 up") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                      {1, 8, 7},
                                      {7, 1, 129},
                                      {41, 55, 1000},
                                      {1, 4096, 513},
                                      {513, 511, 1}})
            check_chosen(spec_of(layout, m, n, k), {.use_cpu = true});
}

TEST_CASE("types, C, alpha and beta, column-major D") {
    REQUIRE_GPU();
    const VerifyOptions scaled{.alpha = -0.5F, .beta = 2.0F};
    for (const GemmLayout layout : kLayouts) {
        check_chosen(f16(spec_of(layout, 120, 200, 72), DataType::f32));
        check_chosen(f16(spec_of(layout, 120, 200, 72), DataType::f16));
        check_chosen(f16(spec_of(layout, 119, 201, 73), DataType::f16, DataType::f32));
        for (const DataType c : {DataType::f16, DataType::bf16, DataType::f32})
            for (const DataType d : {DataType::f16, DataType::bf16, DataType::f32})
                for (const Order order : {Order::row, Order::column}) {
                    GemmSpec spec = spec_of(layout, 97, 136, 64);
                    spec.c = c;
                    spec.d = d;
                    spec.d_order = order;
                    check_chosen(spec, scaled);
                }
        GemmSpec split = spec_of(layout, 65, 67, 2048);
        split.c = DataType::f32;
        check_with(split, "block=64x64x32,warp=32x32,split_k=4", scaled);
        split.n = 72;
        check_with(split, "block=64x64x32,warp=32x32", scaled);
    }
}

TEST_CASE("beta of 0 reads no C, alpha of 0 and K of 0 read no operands") {
    REQUIRE_GPU();
    check_unread_operands(spec_of(GemmLayout::tn, 100, 72, 64),
                          [](const GemmSpec& spec, const VerifyOptions& options) { check_chosen(spec, options); });
    check_with(spec_of(GemmLayout::tn, 100, 72, 75), "block=64x64x32,warp=32x32,pack=ab", {.alpha = 0.0F});
}

TEST_CASE("leading dimensions beyond the row, of every alignment") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const int pad : {1, 2, 4, 8, 24}) {
            const GemmSpec spec = spec_of(layout, 72, 88, 104);
            check_with(with_row_padding(spec, {.a = pad, .b = 2 * pad, .d = pad}),
                       "block=64x64x32,warp=32x32,stages=3");
        }
}

TEST_CASE("random configs on random shapes") {
    REQUIRE_GPU();
    std::mt19937 random(20240229);
    const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
    for (int i = 0; i < 60; ++i) {
        const GemmSpec spec = spec_of(kLayouts[static_cast<std::size_t>(i % 4)], up_to(700), up_to(700), up_to(1500));
        const auto candidates = list_candidates(problem_of(spec), state_of(context()).device->model()).accepted;
        static_cast<void>(check_kernel(
            spec, candidates[static_cast<std::size_t>(up_to(static_cast<int>(candidates.size())) - 1)].config));
    }
}

TEST_CASE("long grids and matrices of more than 2^31 elements", "[memory]") {
    REQUIRE_GPU();
    check_chosen(spec_of(GemmLayout::tn, 5'000'000, 8, 8));
    check_chosen(spec_of(GemmLayout::tn, 8, 5'000'000, 8));
    const std::size_t needed = 3ULL << 32;
    if (state_of(context()).device->free_memory() < needed)
        SKIP_TEST("less than 12 GiB of free device memory: large matrices are not tested");
    check_chosen(spec_of(GemmLayout::tn, 70'000, 40'000, 16));
    check_chosen(spec_of(GemmLayout::nt, 40'000, 70'001, 17));
    check_chosen(spec_of(GemmLayout::tt, 40'000, 16, 70'000));
}

TEST_CASE("sanitizer set: small kernels of every kind", "[.][sanitizer]") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const char* variant : kVariants) {
            check_with(spec_of(layout, 97, 131, 75), variant);
            check_with(spec_of(layout, 70, 72, 104), variant);
        }
    check_with(spec_of(GemmLayout::nt, 97, 131, 75), "block=64x64x32,warp=32x32,stages=3,pack=ab");
}
