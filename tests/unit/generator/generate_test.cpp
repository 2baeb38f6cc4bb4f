#include "generator/generate.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

const Arch& kArch = find_arch("sm_80");

GemmSpec problem(std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    return spec;
}

KernelSource source_of(const GemmSpec& spec, const MmaMultistageConfig& config = {}) {
    return generate(problem_of(spec), {config}, kArch);
}

/// Compares with tests/golden/<name>, or rewrites it when JITGEMM_UPDATE_GOLDEN is set.
void check_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(JITGEMM_SOURCE_DIR) + "/tests/golden/" + name;
    if (std::getenv("JITGEMM_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ostringstream golden;
    golden << std::ifstream(path).rdbuf();
    CHECK(golden.str() == text);
}

}  // namespace

TEST_CASE("one config makes one body, whatever the shape") {
    CHECK(source_of(problem(1000, 776, 512)).body == source_of(problem(64, 8, 4096)).body);
    CHECK(source_of(problem(1000, 776, 512)).name == source_of(problem(64, 8, 4096)).name);
    CHECK(source_of(problem(1000, 777, 512)).body != source_of(problem(1000, 776, 512)).body);  // D's alignment differs
}

TEST_CASE("a dump is free of macros, includes and template leftovers") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        GemmSpec spec = problem(1001, 333, 777);
        spec.layout = layout;
        spec.c = DataType::f32;
        for (const Pack pack : {Pack::none, Pack::ab}) {
            MmaMultistageConfig config;
            config.warp = {32, 32, 32};
            config.pack = pack;
            const std::string text = dump(source_of(spec, config), problem_of(spec));
            CHECK(text.find("GEMM_") == std::string::npos);
            CHECK(text.find("#include") == std::string::npos);
            CHECK(text.find("#if") == std::string::npos);
            CHECK(text.find("extern \"C\" __global__") != std::string::npos);
        }
    }
}

TEST_CASE("the banner reads back") {
    GemmSpec spec = problem(1000, 777, 555);
    spec.lda = 560;
    spec.c = DataType::f32;
    spec.d_order = Order::column;
    const KernelSource source =
        source_of(spec, std::get<MmaMultistageConfig>(choose_config(problem_of(spec), find_gpu("a100")).family));
    const ParsedDump parsed = parse_dump(dump(source, problem_of(spec)));
    CHECK(parsed.spec == resolved(spec));
    CHECK(kernel_name(parsed.id) == source.name);
    CHECK(parsed.arch == &kArch);
    CHECK(parsed.body == source.body);
    CHECK_THROWS_WITH(parse_dump("int main() {}"), ContainsSubstring("end of banner"));
    std::string damaged = dump(source, problem_of(spec));
    damaged.replace(damaged.find("//   kernel   "), 14, "//   kernal   ");
    CHECK_THROWS_WITH(parse_dump(damaged), ContainsSubstring("kernel"));
}

TEST_CASE("the banner tells how a matrix of one row or column lies") {
    const auto lines_of = [](GemmLayout layout, std::int64_t m, std::int64_t n) {
        GemmSpec spec = problem(m, n, 264);
        spec.layout = layout;
        const KernelConfig config = choose_config(problem_of(spec), find_gpu("a100"));
        const KernelSource source = generate(problem_of(spec), config, kArch);
        const std::string text = dump(source, problem_of(spec));
        CHECK(parse_dump(text).spec == resolved(spec));
        const std::size_t at = text.find("//   lines    ");
        return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
    };
    CHECK_THAT(lines_of(GemmLayout::nt, 1, 72),
               ContainsSubstring("lies as layout=tt d-layout=t lda=264 ldb=72 ldd=72"));
    CHECK_THAT(lines_of(GemmLayout::tn, 72, 1), ContainsSubstring("layout=tn d-layout=n lda=264 ldb=264 ldd=72"));
    CHECK(lines_of(GemmLayout::tn, 1, 72).empty());
}

TEST_CASE("launch geometry follows the tiles") {
    MmaMultistageConfig config;
    config.block = {128, 256, 64};
    config.warp = {64, 64, 64};
    config.stages = 3;
    const KernelSource source = source_of(problem(1000, 1000, 512), config);
    REQUIRE(source.entries.size() == 1);
    CHECK(source.entries[0].threads == 256);
    CHECK(source.entries[0].shared_bytes == 3 * (128 + 256) * 64 * 2);
    CHECK(block_count(source.entries[0].grid, 1000, 1000) == 8 * 4);
    config.stages = 2;
    config.split_k = 4;
    config.pack = Pack::a;
    GemmSpec odd = problem(1000, 1000, 512);
    odd.lda = 513;
    const KernelSource split = generate(problem_of(odd), {config}, kArch);
    REQUIRE(split.entries.size() == 3);
    CHECK(split.entries[0].function == "gemm_pack");
    CHECK(split.entries[1].function == "gemm");
    CHECK(split.entries[2].function == "gemm_reduce");
    // Blocks of 64 threads take four sums each, of as many rows as these fill: of narrow rows too.
    const GridRule& sums = split.entries[2].grid;
    CHECK(block_count(sums, resolved(problem(1000, 1000, 512))) == 1000 * 1000 / 256 + 1);
    CHECK(block_count(sums, resolved(problem(11040, 2, 512))) == 11040 * 4 / 256 + 1);
    CHECK(block_count(sums, resolved(problem(1, 257, 512))) == 2);
}

TEST_CASE("main allows a cluster of more blocks than every GPU takes") {
    MmaMultistageConfig config;
    config.reduction = Reduction::cluster;
    const auto main_of = [&](int splits) {
        config.split_k = splits;
        return host_main(generate(problem_of(problem(128, 256, 8192)), {config}, find_arch("sm_90a")),
                         problem_of(problem(128, 256, 8192)));
    };
    CHECK_THAT(main_of(16),
               ContainsSubstring("cudaFuncSetAttribute(gemm, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)"));
    CHECK_THAT(main_of(8), !ContainsSubstring("NonPortable"));
}

TEST_CASE("a dump of a problem with an epilogue's text has no main") {
    GemmSpec spec = problem(128, 256, 512);
    spec.epilogue = "d = relu(acc + bias[n])";
    const KernelSource source = source_of(spec);
    CHECK_THROWS_AS(host_main(source, problem_of(spec)), SpecError);
    spec.epilogue = {};
    CHECK_NOTHROW(host_main(source_of(spec), problem_of(spec)));
}

TEST_CASE("grids of entries whose threads go on stay within what 32 bits and a grid take") {
    for (const std::int64_t rows : {std::int64_t{1} << 27, kLargestExtent}) {
        MmaMultistageConfig config;
        config.pack = Pack::a;
        config.split_k = 2;
        GemmSpec spec = problem(rows, 260, 7);
        const std::vector<KernelEntry> entries = family_of({config}).entries(problem_of(spec).signature, {config});
        REQUIRE(entries.size() == 3);
        CHECK(block_count(entries.front().grid, resolved(spec)) * entries.front().threads <= std::int64_t{1} << 31);
        CHECK(block_count(entries.back().grid, resolved(spec)) <= std::numeric_limits<std::int32_t>::max());
    }
}

TEST_CASE("configs that don't fit are refused with all reasons") {
    MmaMultistageConfig config;
    config.stages = 1;
    config.warp = {24, 64, 32};
    CHECK_THROWS_WITH(source_of(problem(64, 64, 64), config),
                      ContainsSubstring("stages = 1") && ContainsSubstring("warp_tile.m = 24"));
}

// Kernels that people get: large 16-bit problems on a new GPU, f32, and the one to learn from.
TEST_CASE("golden dumps") {
    SECTION("wgmma, clusters of two") {
        const Problem asked = problem_of(problem(4096, 4096, 4096));
        const KernelConfig config = with_parameters(
            {WgmmaWarpSpecializedConfig{}}, parse_parameters("block=128x256x64,warpgroup=64x256,stages=4,cluster=2x1"));
        check_golden("wgmma_bf16_tn.cu", dump(generate(asked, config, find_arch("sm_90a")), asked));
    }
    SECTION("f32 in block, warp and thread tiles, with a pitch that is no whole vector and C") {
        GemmSpec spec = problem(1000, 777, 555);
        spec.a = spec.b = spec.d = DataType::f32;
        spec.c = DataType::f32;
        spec.layout = GemmLayout::nn;
        check_golden("simt_hierarchical_f32_nn.cu",
                     dump(generate(problem_of(spec), {SimtHierarchicalConfig{}}, kArch), problem_of(spec)));
    }
    SECTION("one thread per element, to learn from") {
        GemmSpec spec = problem(1000, 777, 555);
        spec.a = spec.b = spec.d = DataType::f32;
        spec.layout = GemmLayout::tt;
        check_golden("simt_naive_f32_tt.cu",
                     dump(generate(problem_of(spec), {SimtNaiveConfig{}}, kArch), problem_of(spec)));
    }
}
