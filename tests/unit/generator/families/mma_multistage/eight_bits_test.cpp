/// mma_multistage with 8-bit operands: what it serves and where, its rules, its choices beside wgmma's.

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
using enum DataType;

constexpr std::string_view kPromoted = "block=64x64x128,warp=32x32,stages=3,mma=16x8x32,promote=128";
constexpr std::string_view kIntegers = "block=64x64x64,warp=32x32,stages=3,mma=16x8x32";

GemmSpec bytes_of(DataType type, GemmLayout layout = GemmLayout::tn, std::int64_t size = 512) {
    return spec_of(layout, size, size, size, type);
}

KernelConfig config_of(std::string_view parameters) {
    return with_parameters({MmaMultistageConfig{}}, parse_parameters(std::string(parameters)));
}

std::string violations(const GemmSpec& spec, std::string_view parameters, std::string_view arch) {
    const KernelConfig config = config_of(parameters);
    return fmt::format("{}", fmt::join(family_of(config).violations(problem_of(spec), config, find_arch(arch)), "\n"));
}

std::string unsupported(const GemmSpec& spec, std::string_view arch) {
    return fmt::format("{}",
                       fmt::join(find_family("mma_multistage").unsupported(problem_of(spec), find_arch(arch)), "\n"));
}

std::string_view chosen_family(const GemmSpec& spec, std::string_view gpu) {
    return family_name(choose_config(problem_of(spec), find_gpu(gpu)));
}

double predicted_us(const GemmSpec& asked, std::string_view gpu) {
    const Problem problem = problem_of(asked);
    const KernelConfig config = choose_config(problem, find_gpu(gpu));
    return family_of(config).cost(problem, config, find_gpu(gpu)).total_us;
}

}  // namespace

TEST_CASE("mma.sync of 8 bits: integers from sm_80 on, floats from sm_89 on, in every layout") {
    for (const GemmLayout layout : kLayouts) {
        CHECK(unsupported(bytes_of(s8, layout), "sm_80").empty());
        CHECK(unsupported(bytes_of(e5m2, layout), "sm_89").empty());
        CHECK(unsupported(bytes_of(e4m3, layout), "sm_120").empty());
        CHECK_THAT(unsupported(bytes_of(e4m3, layout), "sm_86"), Says("e4m3 by e4m3", "sm_89 and newer", "sm_86"));
    }
    for (const DataType a : {e4m3, e5m2})
        CHECK_THAT(unsupported(bytes_of(a), "sm_80"), Says(std::string(to_string(a)), "sm_89 and newer", "sm_80"));
    CHECK_THROWS_WITH(choose_config(problem_of(bytes_of(e5m2)), find_gpu("a100")),
                      Says("e5m2 by e5m2", "sm_89 and newer", "sm_80"));
    GemmSpec scaled = bytes_of(e4m3);
    scaled.epilogue = "d = acc * sa[m,k/128]";
    CHECK(unsupported(scaled, "sm_89").empty());
    scaled.sums = Summation::fast;
    CHECK_THAT(unsupported(scaled, "sm_89"), Says("sa[m,k/128] scales blocks of K", "sums=promoted"));
    scaled.sums = Summation::promoted;
    scaled.epilogue = "x = acc * sa[m,k/128]; d[m,h] = left(x) * right(x)";
    CHECK_THAT(unsupported(scaled, "sm_89"), Says("blocks of K", "pairs of columns"));
    CHECK_THAT(unsupported(bytes_of(f32), "sm_89"), Says("s8 by s8", "not f32 by f32"));
}

TEST_CASE("mma.sync of 8 bits: chosen where there is no wgmma, and for arrays of addresses") {
    for (const std::string_view gpu : {"rtx4090", "b200", "rtx5090"})
        CHECK(chosen_family(bytes_of(e4m3), gpu) == "mma_multistage");
    CHECK(chosen_family(bytes_of(s8), "a100") == "mma_multistage");
    for (const DataType type : {e4m3, s8}) {
        CHECK(chosen_family(bytes_of(type), "h200") == "wgmma_warp_specialized");
        CHECK(MmaMultistage::groups(problem_of(bytes_of(type)), find_gpu("h200")).empty());
        const Selection selection{.kernel = {}, .family = "mma_multistage", .parameters = {}};
        CHECK_THROWS_WITH(choose_config(problem_of(bytes_of(type)), find_gpu("h200"), selection),
                          Says("mma_multistage proposes none", "sm_90a", "--kernel"));
    }
    GemmSpec spec = bytes_of(s8);
    spec.batch = 4;
    spec.pointers = true;
    CHECK(chosen_family(spec, "h200") == "mma_multistage");
    CHECK(violations(bytes_of(e4m3), kPromoted, "sm_90a").empty());
}

TEST_CASE("mma.sync of 8 bits: every choice keeps its rules, in every layout, at every alignment") {
    for (const GemmLayout layout : kLayouts)
        for (const int alignment : {1, 4, 16})
            for (const DataType type : {e4m3, s8}) {
                GemmSpec spec = bytes_of(type, layout, 1000);
                spec.lda = spec.ldb = alignment == 1 ? 1001 : alignment == 4 ? 1004 : 1008;
                const Problem problem = problem_of(spec);
                const KernelConfig config = choose_config(problem, find_gpu("l40s"));
                CHECK(family_of(config).violations(problem, config, find_arch("sm_89")).empty());
                const auto& c = config.as<MmaMultistageConfig>();
                CHECK(packs_a(c.pack) >= (order_a(layout) == Order::column || alignment == 1));
                CHECK(packs_b(c.pack) >= (order_b(layout) == Order::row || alignment == 1));
                CHECK(c.promote == (type == e4m3 ? 128 : 0));
                const KernelId id{problem.signature, config};
                CHECK(parse_kernel_name(kernel_name(id)) == id);
            }
}

TEST_CASE("mma.sync of 8 bits: every rule gives its reason") {
    const std::string promoted(kPromoted), integers(kIntegers);
    CHECK(violations(bytes_of(e4m3), promoted, "sm_89").empty());
    CHECK(violations(bytes_of(s8), integers, "sm_80").empty());
    CHECK_THAT(violations(bytes_of(e4m3), integers, "sm_89"), Says("promote = 0", "sums=promoted", "must be 128"));
    GemmSpec fast = bytes_of(e4m3);
    fast.sums = Summation::fast;
    CHECK_THAT(violations(fast, promoted, "sm_89"), Says("promote = 128", "sums=fast", "must be 0"));
    for (const DataType type : {s8, DataType::f16})
        CHECK_THAT(violations(bytes_of(type), promoted, "sm_89"),
                   Says("promote = 128", std::string("sums of ") + std::string(to_string(type)), "must be 0") &&
                       !ContainsSubstring("sums="));
    CHECK_THAT(violations(bytes_of(e4m3), integers + ",promote=128", "sm_89"),
               Says("block_tile.k = 64", "promote = 128"));
    CHECK_THAT(violations(bytes_of(s8, GemmLayout::nn), integers, "sm_80"),
               Says("K is not contiguous in A", "layout nn", "pack must have a"));
    CHECK_THAT(violations(bytes_of(s8, GemmLayout::tt), integers + ",pack=a", "sm_80"),
               Says("K is not contiguous in B", "pack must have b") && Says("A is aligned to 16 bytes already"));
    GemmSpec odd = bytes_of(s8);
    odd.ldb = 514;
    CHECK_THAT(violations(odd, integers, "sm_80"), Says("B is aligned to 2 bytes", "4", "pack must have b"));
    CHECK_THAT(violations(bytes_of(s8), integers + ",split_k=2,reduction=cluster", "sm_120"),
               Says("reduction = cluster", "f32, not s32"));
    CHECK_THAT(violations(bytes_of(e4m3), "block=128x128x128,warp=64x64,stages=3,mma=16x8x32,promote=128", "sm_89"),
               Says("registers", "256 accumulators"));
    GemmSpec batch = bytes_of(s8);
    batch.batch = 2;
    batch.lda = batch.ldb = 516;
    CHECK(violations(batch, integers, "sm_80").empty());
    CHECK(violations(batch, integers + ",pack=ab", "sm_80").empty());
    CHECK_THAT(violations(batch, integers + ",pack=a", "sm_80"), Says("a batch copies all"));
}

TEST_CASE("mma.sync of 8 bits: names, instructions and copies") {
    GemmSpec spec = spec_of(GemmLayout::tn, 100, 80, 208, e4m3);
    spec.b = e5m2;
    const KernelConfig config = config_of(kPromoted);
    CHECK(kernel_name({problem_of(spec).signature, config}) ==
          "mma_multistage_e4m3_b-e5m2_tn_d-bf16_64x64x128_warp32x32_mma16x8x32_stages3_promote128");
    CHECK_THAT(generate(problem_of(spec), config, find_arch("sm_89")).body,
               ContainsSubstring("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"));
    spec.layout = GemmLayout::nn;  // A lies by columns, and its copy by rows of 256 bytes
    const KernelConfig packing = config_of(std::string(kPromoted) + ",pack=a");
    const auto& packs_a = packing.as<MmaMultistageConfig>();
    CHECK(MmaMultistage::workspace_bytes(problem_of(spec), packs_a) == 100 * 256);
    CHECK(MmaMultistage::entries(problem_of(spec).signature, packs_a).front().function == "gemm_pack");
    CHECK_THAT(MmaMultistage::anatomy(problem_of(spec), packs_a).operands.at(0).copy, ContainsSubstring("transposed"));
    spec = bytes_of(s8);
    CHECK(kernel_name({problem_of(spec).signature, config_of(kIntegers)}) ==
          "mma_multistage_s8_tn_d-s32_64x64x64_warp32x32_mma16x8x32_stages3");
}

TEST_CASE("mma.sync of 8 bits: large products take about half of the time of 16 bits") {
    for (const std::string_view gpu : {"rtx4090", "rtx5090"}) {
        GemmSpec eight = bytes_of(e4m3, GemmLayout::tn, 8192);
        eight.sums = Summation::fast;
        const double sixteen = predicted_us(bytes_of(f16, GemmLayout::tn, 8192), gpu);
        const double fast = predicted_us(eight, gpu);
        CHECK(fast > 0.45 * sixteen);
        CHECK(fast < 0.65 * sixteen);
        eight.sums = Summation::promoted;
        CHECK(predicted_us(eight, gpu) > fast);
    }
    GemmSpec integers = bytes_of(s8, GemmLayout::tn, 8192);
    integers.d = bf16;
    const double ratio = predicted_us(integers, "a100") / predicted_us(bytes_of(bf16, GemmLayout::tn, 8192), "a100");
    CHECK(ratio > 0.45);
    CHECK(ratio < 0.75);
}
