#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "tests/catch.hpp"

#include <string>

using namespace jitgemm;

namespace {

/// Two kernels of a problem, and what they took on an H200 (`jitgemm tune`, the median of their rounds
/// relative to a reference kernel that ran in turn with them; docs/lab/cost-models.md).
struct Fact {
    const char* shape;
    const char* fast;
    double fast_us;
    const char* slow;
    double slow_us;
};
constexpr Fact kFacts[] = {
    // Of clusters of 2x2, a column of blocks lies outside the problem.
    {"bf16 tn 392 1920 2856", "wgmma_bf16_tn_128x112x64_1x4_swapab_stages6_streamk120", 12.98,
     "wgmma_bf16_tn_64x144x64_2x2_swapab_stages8", 21.57},
    // Sharing both operands doesn't make up for small tiles.
    {"f16 tt 8888 1400 1480", "wgmma_f16_tt_128x248x64_1x2_swapab_stages4_group16", 59.32,
     "wgmma_f16_tt_128x128x64_2x2_pingpong_stages6_group4", 70.62},
    {"bf16 tn 4128 1512 272", "wgmma_bf16_tn_128x192x64_pingpong_stages4_group16_slices4", 9.44,
     "wgmma_bf16_tn_128x176x64_2x2_pingpong_stages5", 12.56},
    {"bf16 nn 1592 536 544", "wgmma_bf16_nn_64x112x64_stages8_group16", 4.83,
     "wgmma_bf16_nn_128x80x64_2x2_stages7_group4", 5.70},
    // Few rows or columns from here on.
    // The weights, shared in a cluster, come from DRAM once; the activations are in L2 anyway.
    {"bf16 tn 128 4096 4096", "wgmma_bf16_tn_64x64x128_1x2_swapab_stages6_slices1", 12.40,
     "wgmma_bf16_tn_64x64x128_1x2_stages6_slices1", 15.10},
    {"bf16 tn 128 6144 4096", "wgmma_bf16_tn_64x96x64_2x1_stages8", 16.85, "wgmma_bf16_tn_64x96x64_1x2_stages8_group16",
     19.80},
    {"bf16 tn 1856 200 21824", "wgmma_bf16_tn_64x200x64_stages6_group16_slices3_streamk116", 35.12,
     "wgmma_bf16_tn_128x104x64_stages6_streamk120", 41.70},
    {"bf16 nn 3328 48 3200", "wgmma_bf16_nn_64x24x128_1x2_stages8", 8.15, "wgmma_bf16_nn_64x24x128_stages8", 9.06},
    // 80 blocks: 14 pairs share what one SM gets.
    {"bf16 tn 16 10240 8192", "wgmma_bf16_tn_64x16x128_swapab_stages8_group4_slices1_streamk132", 42.71,
     "wgmma_bf16_tn_128x16x128_swapab_stages6_group4_slices1", 53.97},
    {"bf16 tn 32 10240 8192", "wgmma_bf16_tn_64x32x128_swapab_stages8_slices1_streamk132", 43.95,
     "wgmma_bf16_tn_128x32x128_swapab_stages5_group4_slices1", 54.83},
    // The weights are fetched twice, by blocks of few columns.
    {"bf16 tn 16 4096 4096", "wgmma_bf16_tn_64x16x128_swapab_stages8_group4_slices1", 10.79,
     "wgmma_bf16_tn_64x8x128_swapab_stages8_group4_slices1", 13.11},
    // 96 blocks: 30 pairs.
    {"bf16 tn 8 6144 4096", "mma_sliced_k_bf16_tn_32x8x512_swapab_stages3", 14.96,
     "wgmma_bf16_tn_64x8x128_swapab_stages8_group4_slices1", 15.99},
    // Rows outside the problem.
    {"bf16 nt 6720 24 2240", "wgmma_bf16_nt_64x24x128_4x1_stages6_group2", 10.41,
     "wgmma_bf16_nt_64x24x128_2x1_stages6_group4", 12.50},
    {"bf16 nt 56 22912 1088", "wgmma_bf16_nt_64x192x64_1x4_stages6_group16_slices3", 15.59,
     "wgmma_bf16_nt_64x192x64_stages6_group16_slices3", 17.15},
    // More clusters of 6 than the GPU holds at once.
    {"bf16 tn 2304 8 1920", "wgmma_bf16_tn_64x8x128_stages8_group4_slices1", 4.85,
     "mma_multistage_bf16_tn_128x16x64_warp32x16_stages6_split6_cluster_pdl", 9.79},
    {"bf16 tn 1280 64 8192", "wgmma_bf16_tn_64x32x128_swapab_stages8_slices1_streamk120", 10.19,
     "mma_multistage_bf16_tn_64x64x128_warp32x32_stages4_split6_cluster_pdl", 19.42},
    {"bf16 tn 2 2304 4160", "mma_multistage_bf16_tn_16x64x128_warp16x16_stages5_split3_cluster_pdl", 7.83,
     "mma_multistage_bf16_tn_16x128x128_warp16x32_stages3_split6_cluster_pdl", 13.01},
    // Pairs that share what nobody else reads, and pairs that share what all do.
    {"bf16 tn 256 4096 4096", "wgmma_bf16_tn_64x128x64_2x1_stages8", 17.10,
     "wgmma_bf16_tn_64x128x64_1x2_stages8_group16", 20.31},
    {"bf16 tn 256 4096 4096", "wgmma_bf16_tn_128x64x64_2x1_pingpong_stages8_group4", 16.60,
     "wgmma_bf16_tn_128x64x64_2x1_pingpong_swapab_stages8_group4", 22.54},
    // K ends within its first panel: clusters share the rows that TMA fills up.
    {"bf16 tn 11760 944 8", "wgmma_bf16_tn_128x160x64_4x2_pingpong_stages5_group4", 9.46,
     "wgmma_bf16_tn_128x160x64_pingpong_stages5_group16", 16.09},
    // Stream-K of blocks alone.
    {"bf16 nt 1536 7168 1536", "wgmma_bf16_nt_128x224x64_stages4_group16", 47.97,
     "wgmma_bf16_nt_128x128x64_pingpong_stages6_streamk132", 58.79},
    // A ring of two stages falls behind DRAM, as do blocks of four warps.
    {"bf16 tn 4 12288 12288", "mma_sliced_k_bf16_tn_32x8x512_swapab_stages4", 70.85,
     "mma_sliced_k_bf16_tn_64x8x512_swapab_stages2", 79.39},
    {"bf16 tn 20 3392 632", "wgmma_bf16_tn_64x24x128_swapab_stages8", 4.02,
     "mma_sliced_k_bf16_tn_64x32x256_swapab_stages3", 5.22},
    // What no other block reads comes slowly.
    {"bf16 nn 32 2560 10240", "mma_multistage_bf16_nn_32x64x128_warp16x32_stages4_split3_pdl", 17.98,
     "mma_multistage_bf16_nn_32x256x128_warp32x64_stages3_split8_cluster_pdl", 22.49},
    // Rows that begin within lines of L2, and few rows whose elements of one k are a short line that all SMs ask for.
    {"bf16 nn 24 6776 3192", "wgmma_bf16_nn_64x64x128_1x4_stages6_slices1", 14.79,
     "mma_multistage_bf16_nn_32x64x128_warp16x32_stages4_pdl", 23.14},
    {"bf16 nn 24 12064 656", "wgmma_bf16_nn_64x104x64_1x4_stages8_group16", 6.88,
     "mma_multistage_bf16_nn_32x128x64_warp32x32_stages4_pdl", 9.86},
    // A tile of one k-tile: what all warps' sums take stands beside it.
    {"bf16 tn 32 33008 256", "wgmma_bf16_tn_128x32x128_swapab_stages5_group4_slices1", 6.83,
     "mma_sliced_k_bf16_tn_64x32x256_swapab_stages3", 10.63},
    // A launch takes less where the one before it has left SMs idle.
    {"bf16 nn 1360 4 1848", "mma_sliced_k_bf16_nn_32x8x512_stages3_align16.16.8", 4.04,
     "mma_sliced_k_bf16_nn_16x8x512_stages6_align16.16.8", 4.98},
    // Rows that begin within sectors.
    {"bf16 tn 18112 12 344", "wgmma_bf16_tn_64x16x128_2x1_pingpong_stages8_group2_smem_align16.16.8", 6.41,
     "mma_sliced_k_bf16_tn_64x16x512_stages2_align16.16.8", 9.22},
};

double predicted_us(const GemmSpec& spec, const std::string& kernel) {
    const KernelConfig config = parse_kernel_name(kernel).config;
    return family_of(config).cost(problem_of(spec), config, find_gpu("h200")).total_us;
}

}  // namespace

TEST_CASE("of two kernels the one that an H200 ran faster is predicted faster") {
    for (const Fact& fact : kFacts) {
        INFO(fact.shape << ": " << fact.fast << " " << fact.fast_us << " us, " << fact.slow << " " << fact.slow_us);
        const GemmSpec spec = resolved(parse_shape_line(fact.shape));
        REQUIRE(fact.fast_us < fact.slow_us);
        CHECK(predicted_us(spec, fact.fast) < predicted_us(spec, fact.slow));
        CHECK(predicted_us(spec, fact.fast) > 0.75 * fact.fast_us);
        CHECK(predicted_us(spec, fact.fast) < 1.25 * fact.fast_us);
    }
}

TEST_CASE(
    "a cluster that shares rows which K ends within is predicted faster than blocks alone, if not as fast as it is") {
    const GemmSpec spec = resolved(parse_shape_line("bf16 tt 168 15736 40"));  // 4.65 us, and 8.20
    CHECK(predicted_us(spec, "wgmma_bf16_tt_64x88x64_4x1_pingpong_swapab_stages8_group4") <
          predicted_us(spec, "wgmma_bf16_tt_64x88x64_pingpong_swapab_stages8_group16"));
}

TEST_CASE("the choice is no kernel that was measured 7 % slower than another") {
    for (const Fact& fact : kFacts) {
        INFO(fact.shape);
        const GemmSpec spec = parse_shape_line(fact.shape);
        const KernelConfig chosen = choose_config(problem_of(spec), find_gpu("h200"));
        CHECK(kernel_name(problem_of(spec), chosen) != fact.slow);
    }
}
