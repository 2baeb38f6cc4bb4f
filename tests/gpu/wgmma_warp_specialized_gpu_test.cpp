/// wgmma_warp_specialized on a GPU: every variant over residues, layouts and types, exact and on normal inputs.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/gpu/streams_and_replays.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <random>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

bool has_wgmma() { return state_of(context()).device->model().arch->has_wgmma; }

#define REQUIRE_WGMMA() \
    REQUIRE_GPU();      \
    if (!has_wgmma()) SKIP_TEST("this GPU has no wgmma")

/// Of each dimension of a problem: one, a vector, either side of a wgmma, a tile and two of them, many tiles.
constexpr std::array<std::int64_t, 10> kResidues{1, 8, 63, 64, 65, 127, 129, 255, 257, 1000};

}  // namespace

TEST_CASE("wgmma: every variant over residues of each dimension, layouts and types") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts)
        check_wgmma_variants(context(), layout,
                             {{1, 8, 63}, {257, 1000, 129}, {65, 255, 1000}, {1000, 64, 8}, {127, 129, 1}});
}

TEST_CASE("wgmma: every variant over rows of any pitch") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts)
        check_wgmma_variants(context(), layout, {{1, 9, 63}, {257, 1001, 131}, {1003, 67, 11}, {2051, 1101, 523}},
                             Pitches::as_they_are);
}

TEST_CASE("wgmma: outputs for blocks of columns, with scaled D, of pairs and of groups") {
    REQUIRE_WGMMA();
    for (const char* const text :
         {"bias: bf16[n]; t = acc + bias[n]; s[m,n/128] = max(abs(t)) / 448; d = t / s[m,n/128]",
          "x: bf16[m,n]; t = relu(acc + x[m,n]); s[m,n/32] = sum(t); d = t - s[m,n/32]",
          "t = silu(left(acc)) * right(acc); s[m,h/128] = max(abs(t)) / 448; d[m,h] = t / s[m,h/128]"})
        for (const DataType d : {DataType::e4m3, DataType::bf16})
            for (const std::int64_t groups : {0, 5}) {
                GemmSpec spec = spec_of(GemmLayout::tn, 1000, 1056, 520);
                spec.d = d;
                spec.epilogue = text;
                spec.groups = groups;
                INFO(to_string(spec));
                static_cast<void>(check_chosen(context(), spec));
            }
}

TEST_CASE("wgmma: A from registers, every layout and schedule") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts) {
        check_wgmma_variants(context(), layout,
                             {{1, 8, 63}, {257, 1000, 129}, {65, 255, 1000}, {1000, 64, 8}, {127, 129, 1}},
                             Pitches::of_tma, kWgmmaRegisterVariants);
        check_wgmma_variants(context(), layout, {{257, 1001, 131}, {2051, 1101, 523}}, Pitches::as_they_are,
                             kWgmmaRegisterVariants);
        for (const std::string_view variant : kWgmmaRegisterVariants)
            check_wgmma(context(), with_tma_pitches(spec_of(layout, 3000, 2500, 2100)), variant);
    }
}

TEST_CASE("wgmma: A from registers, with C through the ring and nothing to multiply") {
    REQUIRE_WGMMA();
    for (const Sizes& size : {Sizes{3000, 2504, 2104}, Sizes{257, 1000, 136}, Sizes{8, 8, 8}})
        check_wgmma_with_c(context(), size, kWgmmaRegisterVariants);
    for (const std::string_view variant : kWgmmaRegisterVariants)
        check_unread_operands(spec_of(GemmLayout::nt, 104, 72, 64),
                              [&](const GemmSpec& spec, const VerifyOptions& options) {
                                  check_wgmma(context(), spec, variant, options);
                              });
}

TEST_CASE("wgmma: A from registers, launches back to back leave the same bits", "[threads]") {
    REQUIRE_WGMMA();
    GemmSpec constant = spec_of(GemmLayout::nt, 520, 776, 1032);
    constant.constant_a = constant.constant_b = true;
    for (const std::string_view variant : kWgmmaRegisterVariants) {
        INFO(variant);
        check_streams_and_replays(
            context(), resolved(constant),
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant))));
    }
}

TEST_CASE("wgmma: no producer, more tiles than the GPU has SMs, residues, C and a row of it") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts)
        check_wgmma_variants(context(), layout, {{3000, 2500, 2100}, {257, 1001, 136}, {8, 8, 8}}, Pitches::of_tma,
                             kWgmmaFillingVariants);
    check_wgmma_variants(context(), GemmLayout::tn, {{521, 777, 1033}}, Pitches::as_they_are, kWgmmaFillingVariants);
    for (const Sizes& size : {Sizes{3000, 2504, 2104}, Sizes{257, 1000, 136}}) {
        check_wgmma_with_c(context(), size, kWgmmaFillingVariants);
        check_wgmma_with_row_of_c(context(), {size}, kWgmmaFillingVariants);
    }
    for (const std::string_view variant : kWgmmaFillingVariants)
        check_unread_operands(spec_of(GemmLayout::nt, 104, 72, 64),
                              [&](const GemmSpec& spec, const VerifyOptions& options) {
                                  check_wgmma(context(), spec, variant, options);
                              });
}

TEST_CASE("wgmma: no producer, launches back to back leave the same bits", "[threads]") {
    REQUIRE_WGMMA();
    for (const std::string_view variant : kWgmmaFillingVariants) {
        INFO(variant);
        check_streams_and_replays(
            context(), resolved(spec_of(GemmLayout::nt, 520, 776, 1032)),
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant))));
    }
}

TEST_CASE("wgmma: residues in every combination") {
    REQUIRE_WGMMA();
    std::size_t i = 0;
    for (const std::int64_t m : kResidues)
        for (const std::int64_t n : kResidues)
            for (const std::int64_t k : kResidues) {
                const GemmLayout layout = kLayouts.at(i % kLayouts.size());
                check_wgmma(context(), with_tma_pitches(spec_of(layout, m, n, k)),
                            kWgmmaVariants.at(i / 4 % kWgmmaVariants.size()));
                ++i;
            }
}

TEST_CASE("wgmma: more tiles than the GPU has SMs, long K") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts)
        for (const std::string_view variant : kWgmmaVariants)
            check_wgmma(context(), with_tma_pitches(spec_of(layout, 3000, 2500, 2100)), variant);
}

TEST_CASE("wgmma: a row of C is read by the epilogue") {
    REQUIRE_WGMMA();
    for (const Sizes& size : {Sizes{3000, 2504, 2104}, Sizes{257, 1001, 136}, Sizes{8, 8, 8}, Sizes{4096, 6144, 512}})
        check_wgmma_with_row_of_c(context(), {size});
}

TEST_CASE("wgmma: C comes through the ring") {
    REQUIRE_WGMMA();
    for (const Sizes& size : {Sizes{3000, 2504, 2104}, Sizes{257, 1000, 136}, Sizes{8, 8, 8}, Sizes{4096, 6144, 512}})
        check_wgmma_with_c(context(), size);
}

TEST_CASE("wgmma: launches back to back on two streams and replays of a graph leave the same bits", "[threads]") {
    REQUIRE_WGMMA();
    GemmSpec constant = spec_of(GemmLayout::nt, 520, 776, 1032);  // for those that fetch early
    constant.constant_a = constant.constant_b = true;
    const GemmSpec aligned = resolved(constant);
    const GemmSpec packed = resolved(spec_of(GemmLayout::tn, 521, 777, 1033));
    int tried = 0;
    for (const std::string_view variant : kWgmmaVariants) {
        INFO(variant);
        KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant)));
        const bool packs = ++tried % 3 == 0 && !config.as<WgmmaWarpSpecializedConfig>().swap_ab;
        if (packs) config = with_parameters(config, {{"store", "smem"}, {"early", "none"}});
        check_streams_and_replays(context(), packs ? packed : aligned, config);
    }
}

TEST_CASE("wgmma: beta of 0 reads no C, alpha of 0 and K of 0 read no operands") {
    REQUIRE_WGMMA();
    for (const std::string_view variant : kWgmmaVariants)
        check_unread_operands(spec_of(GemmLayout::nt, 104, 72, 64),
                              [&](const GemmSpec& spec, const VerifyOptions& options) {
                                  check_wgmma(context(), spec, variant, options);
                              });
}
