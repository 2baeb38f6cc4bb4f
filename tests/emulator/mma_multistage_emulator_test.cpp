/// mma_multistage on the emulator as a device: the tests of its GPU twin on shapes a CPU can take. Each check is three
/// launches: integers bit for bit with copies early and in order, the same late and shuffled, normal inputs.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Sizes whose packed rows are aligned to 2, 4, 8 and 16 bytes.
constexpr std::array<std::array<std::int64_t, 3>, 4> kSizes{{{67, 33, 75}, {34, 70, 38}, {68, 36, 44}, {72, 40, 104}}};

void check_with(const GemmSpec& spec, const std::string& parameters, const VerifyOptions& options = {}) {
    static_cast<void>(testing::check_with(on_emulator(), spec, parameters, options));
}

void check_chosen(const GemmSpec& spec, const VerifyOptions& options = {}) {
    static_cast<void>(testing::check_chosen(on_emulator(), spec, options));
}

void check_variants(GemmLayout layout) {
    for (std::size_t variant = 0; variant < kVariants.size(); ++variant)
        for (std::size_t size = 0; size < kSizes.size(); ++size) {
            const auto& [m, n, k] = kSizes.at(size);
            if (is_taken(Share::half, layout, variant, size))
                check_with(spec_of(layout, m, n, k), kVariants.at(variant));
        }
}

}  // namespace

// One case per layout, so that ctest runs them side by side.
TEST_CASE("emulated device: every variant and alignment, tn") { check_variants(GemmLayout::tn); }
TEST_CASE("emulated device: every variant and alignment, nn") { check_variants(GemmLayout::nn); }
TEST_CASE("emulated device: every variant and alignment, nt") { check_variants(GemmLayout::nt); }
TEST_CASE("emulated device: every variant and alignment, tt") { check_variants(GemmLayout::tt); }

TEST_CASE("emulated device: splits that add up in a cluster, in every layout") {
    const VerifyOptions scaled{.alpha = 2.0F, .beta = -0.5F};
    const auto check = [&](const GemmSpec& spec, const char* variant, const VerifyOptions& options = {}) {
        static_cast<void>(testing::check_with(on_hopper(), spec, variant, options));
    };
    for (const GemmLayout layout : kLayouts)
        for (const char* variant : kClusterVariants) {
            check(spec_of(layout, 67, 33, 275), variant);
            GemmSpec with_c = spec_of(layout, 40, 72, 104);
            with_c.c = DataType::f32;
            check(with_c, variant, scaled);
        }
    check(f16(spec_of(GemmLayout::nt, 65, 40, 200), DataType::f16), kClusterVariants[0]);
    check(spec_of(GemmLayout::tn, 40, 48, 0), kClusterVariants[1]);
}

TEST_CASE("emulated device: pairs of columns in every layout, with split-K and without") {
    constexpr std::array kPairVariants{"block=64x64x32,warp=32x32,stages=3", "block=64x32x64,warp=32x16,stages=2",
                                       "block=32x64x32,warp=16x32,stages=3,split_k=3",
                                       "block=64x64x32,warp=32x32,stages=3,pack=ab"};
    constexpr std::array kTexts{
        "bias: f16[n]; up: f32[m,h]; t = alpha * acc + bias[n]; d[m,h] = silu({0}(t)) * {1}(t) + up[m,h]",
        "res: bf16[m,n]; col: f32[h]; row: f32[m]; t = acc * row[m] + beta * res[m,n]; d[m,h] = {0}(t) - col[h] * "
        "{1}(t)"};
    std::size_t i = 0;
    for (const GemmLayout layout : kLayouts)
        for (const char* variant : kPairVariants)
            for (const bool in_halves : {true, false}) {
                // Rows of 8 elements, of 16 and of one.
                const bool is_packed = std::string_view(variant).find("pack") != std::string_view::npos;
                const std::int64_t n = in_halves || !is_packed ? 80 : 70, k = is_packed ? 75 : 104;
                GemmSpec spec = spec_of(layout, is_packed ? 67 : 40, n, k);
                spec.d = i % 3 == 2 ? DataType::f32 : DataType::bf16;
                spec.epilogue = fmt::format(fmt::runtime(kTexts.at(i++ % kTexts.size())), in_halves ? "left" : "even",
                                            in_halves ? "right" : "odd");
                INFO(spec.epilogue.text());
                if (is_packed && in_halves && order_b(layout) == Order::row) continue;  // no B to pack
                check_with(spec, variant, {.alpha = 0.5F, .beta = 2.0F});
            }
}

TEST_CASE("emulated device: launches that begin early, a block per SM") {
    for (const GemmLayout layout : kLayouts)
        for (const char* variant :
             {"block=64x64x32,warp=32x32,stages=3,pack=ab,split_k=2,dependent_launch=1",
              "block=64x32x128,warp=32x16,stages=3,split_k=4,reduction=cluster,dependent_launch=1"})
            static_cast<void>(testing::check_with(on_hopper(), spec_of(layout, 67, 33, 275), variant));
}

TEST_CASE("emulated device: packed operands in every layout") {
    for (const GemmLayout layout : kLayouts) {
        check_with(spec_of(layout, 67, 33, 75), "block=64x64x32,warp=32x32,stages=3,pack=ab");
        check_with(spec_of(layout, 67, 33, 75), "block=64x64x32,warp=32x32,stages=3,pack=b,split_k=2");
    }
}

TEST_CASE("emulated device: the chosen kernel from 1x1x1 up") {
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] :
             {std::array<std::int64_t, 3>{1, 1, 1}, {17, 33, 65}, {1, 8, 7}, {7, 1, 129}, {41, 55, 300}})
            check_chosen(spec_of(layout, m, n, k));
}

TEST_CASE("emulated device: a float kernel's accumulators and outputs") {
    for (const GemmLayout layout : kLayouts) {
        check_chosen(f16(spec_of(layout, 56, 72, 40), DataType::f32));
        check_chosen(f16(spec_of(layout, 56, 72, 40), DataType::f16));
        check_chosen(f16(spec_of(layout, 55, 71, 39), DataType::f16, DataType::f32));
    }
}

TEST_CASE("emulated device: C, alpha and beta, both orders of D") {
    const VerifyOptions scaled{.alpha = -0.5F, .beta = 2.0F};
    for (const DataType c : {DataType::f16, DataType::bf16, DataType::f32})
        for (const DataType d : {DataType::f16, DataType::bf16, DataType::f32})
            for (const Order order : {Order::row, Order::column}) {
                GemmSpec spec = spec_of(GemmLayout::nt, 49, 40, 64);
                spec.c = c;
                spec.d = d;
                spec.d_order = order;
                check_chosen(spec, scaled);
            }
}

TEST_CASE("emulated device: C with split-K and without, in every layout") {
    const VerifyOptions scaled{.alpha = 2.0F, .beta = -0.5F};
    for (const GemmLayout layout : kLayouts) {
        GemmSpec split = spec_of(layout, 65, 67, 512);
        split.c = DataType::f32;
        check_with(split, "block=64x64x32,warp=32x32,split_k=4", scaled);
        split.n = 72;
        check_with(split, "block=64x64x32,warp=32x32", scaled);
    }
}

TEST_CASE("emulated device: beta of 0 reads no C, alpha of 0 and K of 0 read no operands") {
    check_unread_operands(spec_of(GemmLayout::tn, 100, 72, 64),
                          [](const GemmSpec& spec, const VerifyOptions& options) { check_chosen(spec, options); });
    check_with(spec_of(GemmLayout::tn, 100, 72, 75), "block=64x64x32,warp=32x32,pack=ab", {.alpha = 0.0F});
}

TEST_CASE("emulated device: leading dimensions beyond the row, of every alignment") {
    for (const GemmLayout layout : kLayouts)
        for (const int pad : {1, 2, 4, 8}) {
            const GemmSpec spec = spec_of(layout, 40, 56, 72);
            check_with(with_row_padding(spec, {.a = pad, .b = 2 * pad, .d = pad}),
                       "block=64x64x32,warp=32x32,stages=3");
        }
}

TEST_CASE("emulated device: other architectures") {
    for (const char* arch : {"sm_86", "sm_89", "sm_90a"}) {
        Context context(emulator_options(arch));
        static_cast<void>(testing::check_chosen(context, spec_of(GemmLayout::tn, 67, 33, 75)));
    }
}
