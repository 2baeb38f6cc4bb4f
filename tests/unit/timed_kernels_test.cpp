/// What the cost models say of kernels of one problem that an H200 ran one much faster than the other (docs/experiments.md, "Fill, pairs and
/// first bytes").

#include "generator/base/spec_text.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "tests/catch.hpp"

#include <string>

namespace {

using namespace jitgemm;

struct Fact {
    const char* problem;
    const char* faster;
    double faster_us;
    const char* slower;
    double slower_us;
};

double predicted_us(const Fact& fact, const char* kernel) {
    const KernelConfig config = parse_kernel_name(kernel).config;
    return find_family(family_name(config))
        .cost(resolved(parse_shape_line(fact.problem)), config, find_gpu("h200"))
        .total_us;
}

void check(const Fact& fact) {
    INFO(fact.problem << ": " << fact.faster << " took " << fact.faster_us << " us, " << fact.slower << ' '
                      << fact.slower_us);
    REQUIRE(fact.faster_us < fact.slower_us);
    CHECK(predicted_us(fact, fact.faster) < predicted_us(fact, fact.slower));
}

}  // namespace

TEST_CASE("pairs that share what nobody else reads are the faster ones") {
    check({"bf16 tn 256 4096 4096", "wgmma_bf16_tn_64x128x64_2x1_stages8", 17.10,
           "wgmma_bf16_tn_64x128x64_1x2_stages8_group16", 20.31});
    check({"bf16 tn 256 4096 4096", "wgmma_bf16_tn_128x64x64_2x1_pingpong_stages8_group4", 16.60,
           "wgmma_bf16_tn_128x64x64_2x1_pingpong_swapab_stages8_group4", 22.54});
}

TEST_CASE("where K ends within its first panel, clusters that share the rows are the faster ones") {
    check({"bf16 tn 11760 944 8", "wgmma_bf16_tn_128x160x64_4x2_pingpong_stages5_group4", 9.46,
           "wgmma_bf16_tn_128x160x64_pingpong_stages5_group16", 16.09});
    check({"bf16 tt 168 15736 40", "wgmma_bf16_tt_64x88x64_4x1_pingpong_swapab_stages8_group4", 4.65,
           "wgmma_bf16_tt_64x88x64_pingpong_swapab_stages8_group16", 8.20});
}

TEST_CASE("stream-K of blocks alone is slower than it looks") {
    check({"bf16 nt 1536 7168 1536", "wgmma_bf16_nt_128x224x64_stages4_group16", 47.97,
           "wgmma_bf16_nt_128x128x64_pingpong_stages6_streamk132", 58.79});
}

TEST_CASE("a ring of two stages falls behind DRAM, as do blocks of four warps") {
    check({"bf16 tn 4 12288 12288", "mma_sliced_k_bf16_tn_32x8x512_swapab_stages4", 70.85,
           "mma_sliced_k_bf16_tn_64x8x512_swapab_stages2", 79.39});
    check({"bf16 tn 20 3392 632", "wgmma_bf16_tn_64x24x128_swapab_stages8", 4.02,
           "mma_sliced_k_bf16_tn_64x32x256_swapab_stages3", 5.22});
}

TEST_CASE("few rows: what no other block reads comes slowly") {
    check({"bf16 nn 32 2560 10240", "mma_multistage_bf16_nn_32x64x128_warp16x32_stages4_split3_pdl", 17.98,
           "mma_multistage_bf16_nn_32x256x128_warp32x64_stages3_split8_cluster_pdl", 22.49});
}
