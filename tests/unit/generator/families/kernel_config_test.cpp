#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/table.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_spec.hpp"
#include "tests/support/says.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A name with every token there is.
constexpr std::string_view kName =
    "mma_multistage_bf16_tn_c-bf16_d-f32_accf16_128x256x32_warp64x64_mma16x8x8_stages4_ldsma2_ldsmb1_shared-padding_"
    "raster-zigzag_group4_split2_cluster_packab_align2.4.8";

KernelId example() {
    MmaMultistageConfig config;
    config.block = {128, 256, 32};
    return {.signature = {}, .config = {config}};
}
constexpr std::string_view kExampleName = "mma_multistage_bf16_tn_128x256x32_warp64x64_stages4";

/// The example with one token replaced.
std::string with_token(std::string_view token, std::string_view replacement) {
    std::string name(kName);
    const std::size_t at = name.find(token);
    REQUIRE(at != std::string::npos);
    return name.replace(at, token.size(), replacement);
}

GemmSignature random_signature(std::mt19937& random) {
    using enum DataType;
    GemmSignature s;
    s.layout = pick(random, {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt});
    s.a = s.b = pick(random, {f16, bf16});
    if (random() % 2 == 0) s.c = pick(random, {f16, bf16, f32});
    s.d = pick(random, {f16, bf16, f32});
    s.accumulator = pick(random, {f16, f32});
    s.align_a = pick(random, {2, 4, 8, 16});
    s.align_b = pick(random, {2, 4, 8, 16});
    s.align_d = pick(random, {4, 8, 16});
    return s;
}

/// With every token in its name that a family accepts: C, other types, little alignment.
GemmSpec random_problem(std::mt19937& random) {
    using enum DataType;
    const auto size = [&] { return 1 + static_cast<std::int64_t>(random() % 9000); };
    GemmSpec spec = sized(size(), size(), size());
    spec.n *= pick(random, {1, 8});  // so that some matrices are aligned
    spec.k *= pick(random, {1, 8});
    spec.layout = pick(random, {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt});
    spec.a = spec.b = pick(random, {f16, bf16, f32});
    spec.c = pick(random, {f16, bf16, f32});
    spec.d = pick(random, {f16, bf16, f32});
    if (spec.a == f16 && random() % 2 == 0) spec.accumulator = f16;
    spec.constant_a = spec.constant_b = random() % 2 == 0;
    return spec;
}

MmaMultistageConfig random_config(std::mt19937& random) {
    MmaMultistageConfig c;
    c.block = {pick(random, {32, 64, 128, 256}), pick(random, {32, 64, 128, 256}), pick(random, {16, 32, 64})};
    c.warp = {pick(random, {16, 32, 64}), pick(random, {16, 32, 64}), c.block.k};
    c.mma = {16, 8, pick(random, {8, 16})};
    c.stages = pick(random, {2, 3, 4, 5, 6, 7, 8});
    c.ldmatrix_a = pick(random, {1, 2, 4});
    c.ldmatrix_b = pick(random, {1, 2, 4});
    c.shared_layout = pick(random, {SharedLayout::swizzle, SharedLayout::padding});
    c.rasterization = pick(random, {Rasterization::row, Rasterization::column, Rasterization::grouped_m,
                                    Rasterization::grouped_n, Rasterization::zigzag});
    c.group = has_groups(c.rasterization) ? pick(random, {2, 4, 8, 16}) : 1;
    c.split_k = pick(random, {1, 2, 4, 8, 16});
    c.pack = pick(random, {Pack::none, Pack::a, Pack::b, Pack::ab});
    return c;
}

}  // namespace

TEST_CASE("the signature of a spec is what the kernel must know at compile time") {
    GemmSpec spec = sized(100, 200, 304);
    CHECK(problem_of(spec).signature == GemmSignature{});
    spec.m = 4000;
    CHECK(problem_of(spec).signature == GemmSignature{});
    spec.k = 301;
    CHECK(problem_of(spec).signature.align_a == 2);
    CHECK(problem_of(spec).signature.align_b == 2);
    CHECK(problem_of(resolved(spec)).signature == problem_of(spec).signature);
}

TEST_CASE("the signature of a column-major D is that of the transposed problem") {
    GemmSpec spec = sized(96, 200, 304);
    spec.layout = GemmLayout::nn;
    spec.d_order = Order::column;
    spec.lda = 100;
    const GemmSignature turned = problem_of(spec).signature;
    CHECK(turned.layout == GemmLayout::tt);
    CHECK(turned.align_a == 16);
    CHECK(turned.align_b == 8);
    CHECK(turned.align_d == 16);
}

TEST_CASE("C and D move in vectors of one length, so the less aligned decides") {
    GemmSpec spec = sized(64, 64, 64);
    CHECK(problem_of(spec).signature.align_d == 16);
    spec.c = DataType::f32;  // 16 bytes of C are 4 elements: 8 bytes of D
    CHECK(problem_of(spec).signature.align_d == 8);
    spec.c = DataType::bf16;
    CHECK(problem_of(spec).signature.align_d == 16);
    spec.ldc = 65;  // one element at a time
    CHECK(problem_of(spec).signature.align_d == 2);
    spec.d = DataType::f32;
    CHECK(problem_of(spec).signature.align_d == 4);
    spec.ldc = 66;
    CHECK(problem_of(spec).signature.align_d == 8);
    spec.ldc = 0;
    CHECK(problem_of(spec).signature.align_d == 16);  // 4 elements of f32; C could give 8 of bf16
    spec.ldd = 65;
    CHECK(problem_of(spec).signature.align_d == 4);
}

TEST_CASE("the signature of an unsound spec throws as resolved does") {
    CHECK_THROWS_AS(problem_of(sized(-1, 8, 8)).signature, SpecError);
}

TEST_CASE("a kernel name says what differs from the published defaults") {
    CHECK(kernel_name(example()) == kExampleName);
    CHECK(family_name(example().config) == "mma_multistage");
    KernelId id = example();
    id.signature.c = DataType::f32;
    id.signature.layout = GemmLayout::nt;
    id.signature.align_a = 2;
    CHECK(kernel_name(id) == "mma_multistage_bf16_nt_c-f32_128x256x32_warp64x64_stages4_align2.16.16");
    CHECK(kernel_name(parse_kernel_name(kName)) == kName);
    id.signature.c = id.signature.d = DataType::f16;
    id.signature.align_b = id.signature.align_d = 2;
    CHECK(kernel_name(id) == "mma_multistage_bf16_nt_c_d-f16_128x256x32_warp64x64_stages4_align2");
    CHECK(parse_kernel_name(kernel_name(id)) == id);
}

TEST_CASE("a wgmma kernel's name leaves out the warpgroup tile that its schedule usually has") {
    struct Named {
        WarpgroupSchedule schedule;
        TileShape block, warpgroup;
        std::string_view name;
    };
    for (const Named& named :
         {Named{WarpgroupSchedule::cooperative, {128, 256, 64}, {64, 256, 64}, "128x256x64"},
          Named{WarpgroupSchedule::cooperative, {128, 256, 64}, {128, 128, 64}, "128x256x64_wg128x128"},
          Named{WarpgroupSchedule::pingpong, {64, 256, 64}, {64, 256, 64}, "64x256x64_pingpong"},
          Named{WarpgroupSchedule::overlapped, {256, 128, 64}, {128, 128, 64}, "256x128x64_overlapped"}}) {
        WgmmaWarpSpecializedConfig config;
        config.dependent_launch = true;  // a published default, too
        config.schedule = named.schedule;
        config.block = named.block;
        config.warpgroup = named.warpgroup;
        const KernelId id{.signature = {}, .config = {config}};
        CHECK(kernel_name(id) == fmt::format("wgmma_bf16_tn_{}_stages4", named.name));
        CHECK(parse_kernel_name(kernel_name(id)) == id);
    }
    CHECK_THROWS_WITH(parse_kernel_name("wgmma_bf16_tn_128x256x64_wg64x256_stages4"),
                      testing::Says("canonical name", "wgmma_bf16_tn_128x256x64_stages4"));
    CHECK_THROWS_WITH(parse_kernel_name("wgmma_warp_specialized_bf16_tn_128x256x64_wg64x256_stages4"),
                      ContainsSubstring("'warp'"));
}

TEST_CASE("published defaults are as they were published") {
    std::map<std::string, std::string> published;
    const auto collect = [&]<typename... Typed>(FamilyList<Typed...>) {
        const auto of = [&](std::string_view family, const auto& table) {
            for (const auto& row : table)
                if (row.derived_default != nullptr)
                    published[std::string(family)] += fmt::format("{}=* ", row.name);
                else if (!row.omitted_default.empty())
                    published[std::string(family)] += fmt::format("{}={} ", row.name, row.omitted_default);
        };
        (of(Typed::kName, Typed::parameter_table()), ...);
    };
    collect(AllFamilies());
    CHECK(
        published ==
        std::map<std::string, std::string>{
            {"mma_multistage",
             "mma=16x8x16 ldsm_a=4 ldsm_b=4 shared=swizzle rasterization=grouped_m group=8 "
             "split_k=1 reduction=workspace pack=none promote=0 dependent_launch=0 "},
            {"mma_sliced_k", "swap_ab=0 dependent_launch=1 early=0 "},
            {"simt_hierarchical",
             "copy=async double_buffer=1 order=left k_lanes=8 copy_slices=8 predicated=1 min_blocks_per_sm=1 store=reg "
             "rasterization=grouped_m group=8 split_k=1 blocks_per_wave=0 dependent_launch=0 "},
            {"simt_long_k", "min_blocks_per_sm=1 dependent_launch=0 "},
            {"simt_naive", "coalesced=1 "},
            {"simt_outer_product_tile2d", "grid=1024 "},
            {"simt_tile2d", "grid=1024 "},
            {"simt_tile2d_shared", "grid=1024 "},
            {"wgmma_warp_specialized",
             "cluster=1x1 schedule=cooperative warpgroup=* swap_ab=0 a_source=smem promote=0 scales=tma "
             "rasterization=grouped_m "
             "group=8 "
             "store=tma "
             "slices=2 broadcast_c=0 persistent=1 warp_specialized=1 stream_k=0 dependent_launch=1 early=none "},
            {"wmma_multistage",
             "mma=16x16x16 padding=8 async=1 cache=cg l2_prefetch=128 double_buffer=1 rasterization=zigzag "
             "group=16 "}});
}

TEST_CASE("a kernel name reads back as the kernel") {
    CHECK(parse_kernel_name(kExampleName) == example());
    std::mt19937 random(5);
    for (int i = 0; i < 2000; ++i) {
        const KernelId id{.signature = random_signature(random), .config = {random_config(random)}};
        const std::string name = kernel_name(id);
        INFO(name);
        CHECK(name.size() <= 200);
        CHECK(parse_kernel_name(name) == id);
    }
}

TEST_CASE("whatever the heuristic or the tuner may propose has a name of fewer than 115 letters") {
    std::mt19937 random(11);
    std::size_t longest = 0;
    for (int i = 0; i < 300; ++i) {
        const Problem problem = problem_of(random_problem(random));
        const GpuModel& gpu = find_gpu("h200");
        for (const Family& family : family_table()) {
            if (!family.unsupported(problem, *gpu.arch).empty()) continue;
            for (const KernelConfig& config : family.candidates(problem, gpu)) {
                const std::string name = kernel_name(problem, config);
                longest = std::max(longest, name.size());
                if (name.size() >= 115) FAIL_CHECK(name << " has " << name.size());
            }
        }
    }
    CHECK(longest > 60);
}

TEST_CASE("every malformed token of a kernel name is named, with what was expected") {
    const auto refused = [](const std::string& name) {
        try {
            (void)parse_kernel_name(name);
        } catch (const ConfigError& error) {
            CHECK_THAT(error.what(), ContainsSubstring("kernel name '" + name + "'"));
            return std::string(error.what());
        }
        return std::string("accepted: ") + name;
    };
    CHECK_THAT(refused(with_token("mma_multistage", "mma_multistag")),
               ContainsSubstring("'mma_multistag'") && testing::Says("did you mean", "'mma_multistage'"));
    CHECK_THAT(refused(with_token("_tn_", "_xy_")), testing::Says("'xy'", "expected"));
    CHECK_THAT(refused(with_token("_bf16_", "_bf6_")),
               ContainsSubstring("'bf6': expected <type>") && testing::Says("did you mean", "'bf16'"));
    CHECK_THAT(refused(with_token("c-bf16", "c-no")), ContainsSubstring("'c-no': expected c-<type>"));
    CHECK_THAT(refused(with_token("c-bf16_d-f32", "d-f32_c-bf16")), ContainsSubstring("'c-bf16'"));
    CHECK_THAT(refused(with_token("accf16", "accnone")), ContainsSubstring("'accnone': expected acc<type>"));
    const std::pair<const char*, const char*> broken[]{{"128x256x32", "128x256"},
                                                       {"warp64x64", "warp64"},
                                                       {"mma16x8x8", "mma16x8x"},
                                                       {"stages4", "stagesfour"},
                                                       {"stages4", "stages70000"},
                                                       {"ldsma2", "ldsma"},
                                                       {"raster-zigzag", "raster-zig"},
                                                       {"group4", "group4m"},
                                                       {"split2", "split"},
                                                       {"cluster", "tree"},
                                                       {"packab", "packc"},
                                                       {"shared-padding", "shared-pad"}};
    for (const auto& [right, wrong] : broken)
        CHECK_THAT(refused(with_token(right, wrong)), ContainsSubstring(fmt::format("'{}'", wrong)));
    CHECK_THAT(
        refused(with_token("packab", "packab_more")),
        ContainsSubstring("'more' is no token that may stand there; in this order: <M>x<N>x<K>, warp<M>x<N>, [mma"));
    for (const char* const wrong : {"align16.16", "align16.16.16.16", "align16.16.3", "align3", "align0.16.16",
                                    "align32.16.16", "align16.16.x", "align16..16", "align-2.16.16", "align"}) {
        CHECK_THAT(refused(with_token("align2.4.8", wrong)),
                   ContainsSubstring(std::string("'") + wrong +
                                     "': expected align<A>.<B>.<D>, or align<all>, each 1, 2, 4, 8 or 16 bytes"));
    }
}

TEST_CASE("an alignment below one element is refused") {
    CHECK_THROWS_WITH(parse_kernel_name(with_token("align2.4.8", "align1.16.16")),
                      testing::Says("'align1.16.16'", "1", "2", "bf16", "element"));
    CHECK_THROWS_WITH(parse_kernel_name(with_token("align2.4.8", "align2.4.2")),
                      testing::Says("2", "4", "f32", "element"));
    CHECK_THROWS_WITH(parse_kernel_name(with_token("align2.4.8", "align2")), testing::Says("2", "4", "f32", "element"));
}

TEST_CASE("a kernel name cut off before its last token that must be there is refused") {
    const std::size_t stages = kExampleName.rfind('_');
    for (std::size_t at = kExampleName.find('_'); at != std::string_view::npos; at = kExampleName.find('_', at + 1)) {
        const std::string cut(kExampleName.substr(0, at));
        INFO(cut);
        CHECK(at <= stages);
        CHECK_THROWS_AS(parse_kernel_name(cut), ConfigError);
        CHECK_THROWS_AS(parse_kernel_name(cut + "_"), ConfigError);
    }
    CHECK_THROWS_AS(parse_kernel_name(std::string(kExampleName) + "_"), ConfigError);
    CHECK_THROWS_AS(parse_kernel_name(""), ConfigError);
    CHECK_THROWS_WITH(parse_kernel_name("mma_multistage_bf16_tn_128x128x32"),
                      ContainsSubstring("'nothing' stands where warp<M>x<N> is expected"));
    CHECK_THROWS_WITH(parse_kernel_name("mma_multistage"), testing::Says("expected", "A"));
    CHECK_THROWS_WITH(parse_kernel_name("fast"), ContainsSubstring("'fast'") && ContainsSubstring("mma_multistage"));
}

TEST_CASE("a name that says the same otherwise is refused with the canonical one") {
    const std::string canonical = "the canonical name of this kernel is " + std::string(kExampleName);
    for (const char* const other : {"_split1", "_packnone", "_align16.16.16", "_align16", "_shared-swizzle_split1"})
        CHECK_THROWS_WITH(parse_kernel_name(std::string(kExampleName) + other), ContainsSubstring(canonical));
    std::string zeros(kExampleName);
    zeros.replace(zeros.find("stages4"), 7, "stages04");
    CHECK_THROWS_WITH(parse_kernel_name(zeros), ContainsSubstring(canonical));
    CHECK_THROWS_WITH(
        parse_kernel_name("mma_multistage_tn_a-bf16_b-bf16_c-none_d-bf16t_acc-f32_block128x256x32_warp64x64"),
        ContainsSubstring("names that began with the layout are of earlier versions"));
}

TEST_CASE("parameters are read as name=value, separated by commas") {
    CHECK(parse_parameters("").empty());
    CHECK(parse_parameters("stages=4") == ParameterMap{{"stages", "4"}});
    CHECK(parse_parameters("stages=4,block=128x256x32") == ParameterMap{{"block", "128x256x32"}, {"stages", "4"}});
    CHECK_THROWS_WITH(parse_parameters("stages"), testing::Says("'stages'", "form", "name=value"));
    CHECK_THROWS_WITH(parse_parameters("stages="), ContainsSubstring("'stages='"));
    CHECK_THROWS_WITH(parse_parameters("=4"), ContainsSubstring("'=4'"));
    CHECK_THROWS_WITH(parse_parameters("stages=4,"), testing::Says("''", "form", "name=value"));
    CHECK_THROWS_WITH(parse_parameters("a=1,b=2,a=3"), ContainsSubstring("'a' stands twice"));
}

TEST_CASE("setting a config's own parameters changes nothing") {
    std::mt19937 random(6);
    for (int i = 0; i < 500; ++i) {
        const KernelConfig config{random_config(random)};
        CHECK(with_parameters(config, parameters_of(config)) == config);
        CHECK(with_parameters(KernelConfig{}, parameters_of(config)) == config);
        CHECK(with_parameters(config, {}) == config);
    }
}

TEST_CASE("parameters are set by name") {
    const KernelConfig changed =
        with_parameters(KernelConfig{}, parse_parameters("stages=6,block=64x32x64,shared=padding"));
    const auto& config = std::get<MmaMultistageConfig>(changed.family);
    CHECK(config.stages == 6);
    CHECK(config.block == TileShape{64, 32, 64});
    CHECK(config.warp.k == 64);
    CHECK(config.shared_layout == SharedLayout::padding);
    CHECK(config.split_k == MmaMultistageConfig{}.split_k);
}

TEST_CASE("unknown parameters and malformed values are refused, all at once") {
    CHECK_THROWS_WITH(with_parameters(KernelConfig{}, {{"stagse", "4"}}),
                      ContainsSubstring("'stagse'") && testing::Says("did you mean", "'stages'"));
    CHECK_THROWS_WITH(with_parameters(KernelConfig{}, {{"block", "128x"}}),
                      ContainsSubstring("block") && ContainsSubstring("'128x'"));
    try {
        (void)with_parameters(KernelConfig{}, {{"nonsense", "1"}, {"stages", "many"}});
        FAIL("no exception");
    } catch (const ConfigError& error) {
        CHECK(error.reasons().size() == 2);
    }
}
