#include "generator/families/kernel_config.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_spec.hpp"

#include <random>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::string_view kName =
    "mma_multistage_tn_a-bf16_b-bf16_c-none_d-bf16t_acc-f32_block128x256x32_warp64x64_mma16x8x16_ldsm4n.4n_stages4_"
    "sw64_db1_"
    "group8m_epi-smem_split1_pack-none_align16.16.16";

KernelId example() {
    MmaMultistageConfig config;
    config.block = {128, 256, 32};
    return {.signature = {}, .config = {config}};
}

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

MmaMultistageConfig random_config(std::mt19937& random) {
    MmaMultistageConfig c;
    c.block = {pick(random, {32, 64, 128, 256}), pick(random, {32, 64, 128, 256}), pick(random, {16, 32, 64})};
    c.warp = {pick(random, {16, 32, 64}), pick(random, {16, 32, 64}), c.block.k};
    c.mma = {16, 8, pick(random, {8, 16})};
    c.stages = pick(random, {2, 3, 4, 5, 6, 7, 8});
    c.ldmatrix_a = pick(random, {1, 2, 4});
    c.ldmatrix_b = pick(random, {1, 2, 4});
    c.shared_layout = pick(random, {SharedLayout::swizzle, SharedLayout::padding});
    c.double_buffer = random() % 2 == 0;
    c.rasterization = pick(random, {Rasterization::row, Rasterization::column, Rasterization::grouped_m,
                                    Rasterization::grouped_n, Rasterization::zigzag});
    const bool strips = c.rasterization != Rasterization::row && c.rasterization != Rasterization::column;
    c.group = strips ? pick(random, {2, 4, 8, 16}) : 1;
    c.epilogue = pick(random, {EpilogueStore::shared, EpilogueStore::registers});
    c.split_k = pick(random, {1, 2, 4, 8, 16});
    c.pack = pick(random, {Pack::none, Pack::a, Pack::b, Pack::ab});
    return c;
}

}  // namespace

TEST_CASE("the signature of a spec is what the kernel must know at compile time") {
    GemmSpec spec = sized(100, 200, 304);
    CHECK(signature(spec) == GemmSignature{});
    spec.m = 4000;
    CHECK(signature(spec) == GemmSignature{});
    spec.k = 301;
    CHECK(signature(spec).align_a == 2);
    CHECK(signature(spec).align_b == 2);
    CHECK(signature(resolved(spec)) == signature(spec));
}

TEST_CASE("the signature of a column-major D is that of the transposed problem") {
    GemmSpec spec = sized(96, 200, 304);
    spec.layout = GemmLayout::nn;
    spec.d_order = Order::column;
    spec.lda = 100;
    const GemmSignature turned = signature(spec);
    CHECK(turned.layout == GemmLayout::tt);
    CHECK(turned.align_a == 16);
    CHECK(turned.align_b == 8);
    CHECK(turned.align_d == 16);
}

TEST_CASE("C and D move in vectors of one length, so the less aligned decides") {
    GemmSpec spec = sized(64, 64, 64);
    CHECK(signature(spec).align_d == 16);
    spec.c = DataType::f32;  // 16 bytes of C are 4 elements: 8 bytes of D
    CHECK(signature(spec).align_d == 8);
    spec.c = DataType::bf16;
    CHECK(signature(spec).align_d == 16);
    spec.ldc = 65;  // one element at a time
    CHECK(signature(spec).align_d == 2);
    spec.d = DataType::f32;
    CHECK(signature(spec).align_d == 4);
    spec.ldc = 66;
    CHECK(signature(spec).align_d == 8);
    spec.ldc = 0;
    CHECK(signature(spec).align_d == 16);  // 4 elements of f32; C could give 8 of bf16
    spec.ldd = 65;
    CHECK(signature(spec).align_d == 4);
}

TEST_CASE("the signature of an unsound spec throws as resolved does") {
    CHECK_THROWS_AS(signature(sized(-1, 8, 8)), SpecError);
}

TEST_CASE("a kernel name spells everything out") {
    CHECK(kernel_name(example()) == kName);
    CHECK(family_name(example().config) == "mma_multistage");
    KernelId id = example();
    id.signature.c = DataType::f32;
    id.signature.layout = GemmLayout::nt;
    id.signature.align_a = 2;
    CHECK_THAT(kernel_name(id), ContainsSubstring("_nt_a-bf16_b-bf16_c-f32_d-bf16t_") &&
                                    ContainsSubstring("_ldsm4t.4t_") && ContainsSubstring("_align2.16.16"));
}

TEST_CASE("a kernel name reads back as the kernel") {
    CHECK(parse_kernel_name(kName) == example());
    std::mt19937 random(5);
    for (int i = 0; i < 2000; ++i) {
        const KernelId id{.signature = random_signature(random), .config = {random_config(random)}};
        const std::string name = kernel_name(id);
        INFO(name);
        CHECK(name.size() <= 200);
        CHECK(parse_kernel_name(name) == id);
    }
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
               ContainsSubstring("'mma_multistag'") && ContainsSubstring("did you mean 'mma_multistage'?"));
    CHECK_THAT(refused(with_token("_tn_", "_xy_")),
               ContainsSubstring("'xy': expected a layout, one of tn, nn, nt, tt"));
    CHECK_THAT(refused(with_token("a-bf16", "a-bf6")),
               ContainsSubstring("'a-bf6': expected a-<type>") && ContainsSubstring("did you mean 'bf16'?"));
    CHECK_THAT(refused(with_token("b-bf16", "c-bf16")), ContainsSubstring("'c-bf16': expected b-<type>"));
    CHECK_THAT(refused(with_token("c-none", "c-no")),
               ContainsSubstring("'c-no': expected c-<type>") && ContainsSubstring("none"));
    CHECK_THAT(refused(with_token("d-bf16t", "d-bf16")), ContainsSubstring("'d-bf16': expected d-<type>t"));
    CHECK_THAT(refused(with_token("d-bf16t", "d-bf16n")), ContainsSubstring("'d-bf16n': expected d-<type>t"));
    CHECK_THAT(refused(with_token("acc-f32", "acc-none")), ContainsSubstring("'acc-none': expected acc-<type>"));
    CHECK_THAT(refused(with_token("block128x256x32", "block128x256")), ContainsSubstring("'block128x256'"));
    CHECK_THAT(refused(with_token("warp64x64", "warp64")), ContainsSubstring("'warp64'"));
    CHECK_THAT(refused(with_token("mma16x8x16", "mma16x8x")), ContainsSubstring("'mma16x8x'"));
    CHECK_THAT(refused(with_token("ldsm4n.4n", "ldsm4.4")), ContainsSubstring("'ldsm4.4'"));
    CHECK_THAT(refused(with_token("stages4", "stagesfour")), ContainsSubstring("'stagesfour'"));
    CHECK_THAT(refused(with_token("sw64", "swizzle")), ContainsSubstring("'swizzle'"));
    CHECK_THAT(refused(with_token("db1", "db2")), ContainsSubstring("'db2'"));
    CHECK_THAT(refused(with_token("group8m", "group8")), ContainsSubstring("'group8'"));
    CHECK_THAT(refused(with_token("epi-smem", "epi-shared")), ContainsSubstring("'epi-shared'"));
    CHECK_THAT(refused(with_token("split1", "split")), ContainsSubstring("'split'"));
    CHECK_THAT(refused(with_token("pack-none", "pack-c")), ContainsSubstring("'pack-c'"));
    CHECK_THAT(refused(with_token("pack-none", "pack-none_more")), ContainsSubstring("'more'"));
    for (const char* const wrong : {"align16.16", "align16.16.16.16", "align16.16.3", "align0.16.16", "align32.16.16",
                                    "align16.16.x", "align16..16", "align08.16.16", "16.16.16", "align-2.16.16"}) {
        CHECK_THAT(
            refused(with_token("align16.16.16", wrong)),
            ContainsSubstring(std::string("'") + wrong + "': expected align<A>.<B>.<D>, each 1, 2, 4, 8 or 16 bytes"));
    }
}

TEST_CASE("an alignment below one element is refused") {
    CHECK_THROWS_WITH(parse_kernel_name(with_token("align16.16.16", "align1.16.16")),
                      ContainsSubstring("'align1.16.16': 1 is less than the 2 bytes of a bf16 element"));
    std::string f32 = with_token("d-bf16t", "d-f32t");
    f32.replace(f32.find("align16.16.16"), 13, "align16.16.2");
    CHECK_THROWS_WITH(parse_kernel_name(f32), ContainsSubstring("2 is less than the 4 bytes of a f32 element"));
}

TEST_CASE("a kernel name cut off at any token is refused") {
    for (std::size_t at = kName.find('_'); at != std::string_view::npos; at = kName.find('_', at + 1)) {
        const std::string cut(kName.substr(0, at));
        INFO(cut);
        CHECK_THROWS_AS(parse_kernel_name(cut), ConfigError);
        CHECK_THROWS_AS(parse_kernel_name(cut + "_"), ConfigError);
    }
    CHECK_THROWS_AS(parse_kernel_name(""), ConfigError);
    CHECK_THROWS_WITH(parse_kernel_name("mma_multistage_tn_a-bf16"), ContainsSubstring("ends after 'a-bf16'"));
    CHECK_THROWS_WITH(parse_kernel_name("mma_multistage"), ContainsSubstring("expected <family>_<layout>_"));
    CHECK_THROWS_WITH(parse_kernel_name("fast"), ContainsSubstring("'fast'") && ContainsSubstring("mma_multistage"));
}

TEST_CASE("a name that contradicts itself is refused with the token that follows from the rest") {
    CHECK_THROWS_WITH(parse_kernel_name(with_token("ldsm4n.4n", "ldsm4t.4n")),
                      ContainsSubstring("'ldsm4t.4n': expected 'ldsm4n.4n', which follows from the other tokens"));
    CHECK_THROWS_WITH(parse_kernel_name(with_token("sw64", "sw128")), ContainsSubstring("'sw128': expected 'sw64'"));
    CHECK_THROWS_WITH(parse_kernel_name(with_token("stages4", "stages04")),
                      ContainsSubstring("'stages04': expected 'stages4'"));
}

TEST_CASE("parameters are read as name=value, separated by commas") {
    CHECK(parse_parameters("").empty());
    CHECK(parse_parameters("stages=4") == ParameterMap{{"stages", "4"}});
    CHECK(parse_parameters("stages=4,block=128x256x32") == ParameterMap{{"block", "128x256x32"}, {"stages", "4"}});
    CHECK_THROWS_WITH(parse_parameters("stages"), ContainsSubstring("'stages' is not of the form name=value"));
    CHECK_THROWS_WITH(parse_parameters("stages="), ContainsSubstring("'stages='"));
    CHECK_THROWS_WITH(parse_parameters("=4"), ContainsSubstring("'=4'"));
    CHECK_THROWS_WITH(parse_parameters("stages=4,"), ContainsSubstring("'' is not of the form name=value"));
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
        with_parameters(KernelConfig{}, parse_parameters("stages=6,block=64x32x64,epilogue=reg"));
    const auto& config = std::get<MmaMultistageConfig>(changed.family);
    CHECK(config.stages == 6);
    CHECK(config.block == TileShape{64, 32, 64});
    CHECK(config.warp.k == 64);
    CHECK(config.epilogue == EpilogueStore::registers);
    CHECK(config.split_k == MmaMultistageConfig{}.split_k);
}

TEST_CASE("unknown parameters and malformed values are refused, all at once") {
    CHECK_THROWS_WITH(with_parameters(KernelConfig{}, {{"stagse", "4"}}),
                      ContainsSubstring("'stagse'") && ContainsSubstring("did you mean 'stages'?"));
    CHECK_THROWS_WITH(with_parameters(KernelConfig{}, {{"block", "128x"}}),
                      ContainsSubstring("block") && ContainsSubstring("'128x'"));
    try {
        (void)with_parameters(KernelConfig{}, {{"nonsense", "1"}, {"stages", "many"}});
        FAIL("no exception");
    } catch (const ConfigError& error) {
        CHECK(error.reasons().size() == 2);
    }
}
