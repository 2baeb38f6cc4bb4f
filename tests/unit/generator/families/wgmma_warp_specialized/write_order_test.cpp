#include "generator/families/wgmma_warp_specialized/write_order.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <string>

using namespace jitgemm;

namespace {

using Config = WgmmaWarpSpecializedConfig;

const GpuModel& kH200 = find_gpu("h200");

GemmSpec spec_of(std::int64_t m, std::int64_t n, std::int64_t k) { return {.m = m, .n = n, .k = k}; }

Config config_of(const std::string& kernel) { return parse_kernel_name(kernel).config.as<Config>(); }

double share_in_flight(const GemmSpec& multiplied, const Config& config) {
    return row_in_flight(multiplied, config, tile_deal(multiplied, config, kH200));
}

bool is_along_rows(const Config& c) {
    return c.group == 1 && c.rasterization == (c.swap_ab ? Rasterization::grouped_n : Rasterization::grouped_m);
}

/// A ping-pong kernel of 16384x16384x64, and what it took on an H200 (docs/lab/wgmma.md).
struct Fact {
    const char* kernel;
    double measured_us;
};
constexpr Fact kFacts[] = {
    {"wgmma_bf16_tn_64x256x64_pingpong_stages4_group1", 146.4},
    {"wgmma_bf16_tn_64x256x64_pingpong_stages4", 160.6},
    {"wgmma_bf16_tn_64x256x64_pingpong_stages4_raster-grouped-n_group1", 169.6},
    {"wgmma_bf16_tn_128x128x64_pingpong_stages4_group1_slices4", 155.2},
    {"wgmma_bf16_tn_128x128x64_pingpong_stages4_slices4", 162.2},
    {"wgmma_bf16_tn_128x128x64_pingpong_stages4_raster-grouped-n_group1_slices4", 170.4},
    {"wgmma_bf16_tn_128x192x64_pingpong_stages3_group1", 155.1},
    {"wgmma_bf16_tn_128x192x64_pingpong_stages3", 170.7},
    {"wgmma_bf16_tn_128x192x64_pingpong_stages3_raster-grouped-n_group1", 180.4},
    {"wgmma_bf16_tn_128x64x64_pingpong_stages8", 175.5},
};

}  // namespace

TEST_CASE("a problem that is bound by writes gets tiles along the rows of D, of 128 columns at least") {
    for (const GemmSpec& spec :
         {spec_of(16384, 16384, 64), spec_of(32768, 8192, 128), spec_of(8192, 16384, 64), spec_of(8192, 8192, 64)}) {
        const KernelConfig choice = choose_config(problem_of(spec), kH200);
        INFO(kernel_name(problem_of(spec), choice));
        const auto& config = choice.as<Config>();
        CHECK(is_along_rows(config));
        CHECK_FALSE(config.swap_ab);
        CHECK(config.block.n >= 128);
    }
}

TEST_CASE("the model knows what the order of tiles costs where writes are the limit") {
    const GemmSpec spec = resolved(spec_of(16384, 16384, 64));
    for (const Fact& fact : kFacts) {
        INFO(fact.kernel);
        const double predicted_us =
            WgmmaWarpSpecialized::cost(problem_of(spec), config_of(fact.kernel), kH200, WgmmaCosts::of(kH200)).total_us;
        CHECK(std::abs(predicted_us / fact.measured_us - 1) < 0.08);
    }
}

TEST_CASE("of a row of D so much is in flight") {
    const GemmSpec spec = resolved(spec_of(16384, 16384, 64));  // 64 tiles along N, 132 blocks
    Config config = config_of(kFacts[0].kernel);
    CHECK(share_in_flight(spec, config) == 1);
    config.group = 8;
    CHECK(share_in_flight(spec, config) == 17 / 64.0);
    config.rasterization = Rasterization::column;
    CHECK(share_in_flight(spec, config) == 1 / 64.0);
    config.swap_ab = true;  // tiles of D^T: 64 of N by 256 of M
    config.rasterization = Rasterization::column;
    CHECK(share_in_flight(spec, config) == 132 / 256.0);
    config.rasterization = Rasterization::grouped_n;
    config.group = 4;
    CHECK(share_in_flight(spec, config) == 33 / 256.0);
}

TEST_CASE("orders along rows are for problems that are bound by writes") {
    const auto has_any = [](const GemmSpec& spec, bool swap_ab) {
        return std::ranges::any_of(WgmmaWarpSpecialized::candidates(problem_of(spec), kH200), [&](const Config& c) {
            return c.swap_ab == swap_ab && c.block.n >= 128 && is_along_rows(c);
        });
    };
    for (const bool swap_ab : {false, true}) {
        CHECK(has_any(spec_of(16384, 16384, 64), swap_ab));
        CHECK_FALSE(has_any(spec_of(4096, 4096, 4096), swap_ab));
        CHECK_FALSE(has_any(spec_of(16384, 16384, 512), swap_ab));  // by tensor cores
        CHECK_FALSE(has_any(spec_of(2048, 2048, 64), swap_ab));     // D stays in L2
        CHECK_FALSE(has_any(spec_of(512, 1 << 20, 64), swap_ab));   // what each row of tiles reads anew doesn't
    }
}

TEST_CASE("a column-major D is written along its columns") {
    GemmSpec spec = spec_of(16384, 8192, 64);
    spec.d_order = Order::column;
    const Config config = choose_config(problem_of(spec), kH200).as<Config>();
    CHECK(is_along_rows(config));  // of the row-major problem that it is computed as
    CHECK(choose_config(problem_of(spec), kH200) == KernelConfig{config});
}
