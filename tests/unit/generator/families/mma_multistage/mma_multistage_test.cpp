#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/mma_multistage/cost.hpp"
#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/heuristics.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/layout/swizzle.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wavefronts.hpp"

#include <array>
#include <set>
#include <tuple>

namespace {

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::kLayouts;
using jitgemm::testing::ldmatrix_wavefronts;

GemmSpec spec_of(GemmLayout layout, std::int64_t m = 512, std::int64_t n = 768, std::int64_t k = 1024) {
    return resolved(testing::spec_of(layout, m, n, k));
}

std::string violations_of(const MmaMultistageConfig& config, const GemmSpec& spec = spec_of(GemmLayout::tn),
                          std::string_view arch = "sm_90a") {
    std::string text;
    for (const std::string& reason : MmaMultistage::violations(problem_of(spec), {config}, find_arch(arch)))
        text += reason + "\n";
    return text;
}

}  // namespace

TEST_CASE("the default config fits, and its name reads back") {
    const MmaMultistageConfig config;
    CHECK(violations_of(config).empty());
    const KernelId id{problem_of(spec_of(GemmLayout::tn)).signature, {config}};
    CHECK(kernel_name(id) == "mma_multistage_bf16_tn_128x128x32_warp64x64_stages4");
    CHECK(parse_kernel_name(kernel_name(id)) == id);
}

TEST_CASE("every candidate's name reads back, for every layout") {
    for (const GemmLayout layout : kLayouts) {
        const GemmSpec spec = spec_of(layout, 777, 333, 4097);
        for (const MmaMultistageConfig& config : MmaMultistage::candidates(problem_of(spec), find_gpu("h200"))) {
            const KernelId id{problem_of(spec).signature, {config}};
            REQUIRE(parse_kernel_name(kernel_name(id)) == id);
        }
    }
}

TEST_CASE("parameters set what they name and read back") {
    const KernelConfig config{MmaMultistageConfig()};
    const KernelConfig changed = with_parameters(config, {{"block", "64x256x64"},
                                                          {"warp", "32x64"},
                                                          {"stages", "3"},
                                                          {"shared", "padding"},
                                                          {"rasterization", "row"},
                                                          {"split_k", "2"},
                                                          {"reduction", "cluster"},
                                                          {"ldsm_b", "2"},
                                                          {"pack", "ab"}});
    const auto& c = changed.as<MmaMultistageConfig>();
    CHECK(c.block == TileShape{64, 256, 64});
    CHECK(c.warp == TileShape{32, 64, 64});
    CHECK(c.stages == 3);
    CHECK(c.shared_layout == SharedLayout::padding);
    CHECK(c.rasterization == Rasterization::row);
    CHECK(c.group == 1);
    CHECK(c.split_k == 2);
    CHECK(c.reduction == Reduction::cluster);
    CHECK(c.ldmatrix_b == 2);
    CHECK(c.pack == Pack::ab);
    CHECK(with_parameters(config, parameters_of(changed)) == changed);
    CHECK_THROWS_WITH(with_parameters(config, {{"stagez", "3"}}), testing::Says("did you mean", "'stages'"));
    CHECK_THROWS_WITH(with_parameters(config, {{"stages", "three"}}), testing::Says("'three'", "number", "65536"));
    CHECK_THROWS_WITH(with_parameters(config, {{"stages", "65537"}}), testing::Says("'65537'", "number", "65536"));
}

TEST_CASE("every rule gives its reason with its numbers") {
    MmaMultistageConfig c;
    SECTION("block and warp tiles") {
        c.warp = {48, 64, 32};
        CHECK_THAT(violations_of(c), testing::Says("block_tile.m = 128", "multiple", "warp_tile.m = 48"));
    }
    SECTION("zero tiles") {
        c.block = {0, 128, 32};
        CHECK_THAT(violations_of(c), ContainsSubstring("block_tile.m = 0"));
    }
    SECTION("the instruction") {
        c.mma = {16, 16, 16};
        CHECK_THAT(violations_of(c), testing::Says("mma.sync", "shape", "16x16x16"));
    }
    SECTION("stages") {
        c.stages = 17;
        CHECK_THAT(violations_of(c), testing::Says("stages = 17", "outside", "2", "16"));
    }
    SECTION("shared memory") {
        c.block = {256, 256, 64};
        c.warp = {64, 64, 64};
        c.stages = 8;
        CHECK_THAT(violations_of(c),
                   testing::Says("524288", "shared memory") && ContainsSubstring("sm_90a has 232448"));
    }
    SECTION("registers") {
        c.warp = {128, 128, 32};
        CHECK_THAT(violations_of(c), testing::Says("registers", "512"));
    }
    SECTION("warps") {
        c.block = {256, 256, 32};
        c.warp = {32, 32, 32};
        CHECK_THAT(violations_of(c), testing::Says("64", "outside", "1", "16"));
    }
    SECTION("double buffering") {
        c.block.k = c.warp.k = 16;
        CHECK_THAT(violations_of(c), testing::Says("double buffering", "even", "k-blocks", "16 / 16 = 1"));
    }
    SECTION("rows of shared memory that threads don't divide into") {
        c.block = {128, 192, 32};
        c.warp = {64, 96, 32};
        CHECK_THAT(violations_of(c, spec_of(GemmLayout::tt)), testing::Says("B", "128", "threads", "24"));
    }
    SECTION("groups") {
        c.rasterization = Rasterization::row;
        CHECK_THAT(violations_of(c), ContainsSubstring("group = 8"));
    }
    SECTION("split-K") {
        c.split_k = 65;
        CHECK_THAT(violations_of(c), testing::Says("split_k = 65", "outside", "1", "64"));
    }
    SECTION("clusters") {
        c.reduction = Reduction::cluster;
        CHECK_THAT(violations_of(c), testing::Says("reduction = cluster", "needs", "split_k", "2"));
        c.split_k = 4;
        CHECK(violations_of(c).empty());
        CHECK_THAT(violations_of(c, spec_of(GemmLayout::tn), "sm_80"),
                   testing::Says("reduction = cluster", "clusters", "sm_90", "sm_80"));
        c.split_k = 16;
        CHECK(violations_of(c).empty());
        CHECK_THAT(violations_of(c, spec_of(GemmLayout::tn), "sm_120"), testing::Says("16", "sm_120", "at most", "8"));
        c.split_k = 17;
        CHECK_THAT(violations_of(c), testing::Says("17", "sm_90a", "at most", "16"));
    }
    SECTION("packing what is aligned") {
        c.pack = Pack::b;
        CHECK_THAT(violations_of(c), testing::Says("pack", "B", "aligned", "16"));
    }
    SECTION("the epilogue's vectors") {
        c.block = {128, 8, 32};
        c.warp = {32, 8, 32};
        GemmSpec f32 = spec_of(GemmLayout::tn);
        CHECK(violations_of(c, f32).find("epilogue") == std::string::npos);
        c.mma = {16, 8, 16};
        c.block.n = c.warp.n = 4;
        CHECK_THAT(violations_of(c, f32), testing::Says("warp_tile.n = 4", "multiple", "mma_shape.n = 8"));
    }
    SECTION("all reasons at once") {
        c.stages = 1;
        c.split_k = 0;
        c.warp.m = 33;
        CHECK_THAT(violations_of(c), ContainsSubstring("stages = 1") && ContainsSubstring("split_k = 0") &&
                                         ContainsSubstring("warp_tile.m = 33"));
    }
}

TEST_CASE("an ldmatrix that does not divide the matrices is refused with both counts") {
    MmaMultistageConfig c;
    c.mma = {16, 8, 8};
    c.block = {64, 8, 32};
    c.warp = {16, 8, 32};
    c.ldmatrix_a = 2;
    c.ldmatrix_b = 2;
    CHECK_THAT(violations_of(c), ContainsSubstring("1") && ContainsSubstring("x2"));
    c.ldmatrix_b = 1;
    CHECK(violations_of(c).empty());
}

TEST_CASE("types and architectures no config serves") {
    GemmSpec spec = gemm_spec_of_type(DataType::f32);
    spec.m = spec.n = spec.k = 64;
    CHECK_THAT(MmaMultistage::unsupported(problem_of(spec), find_arch("sm_90a")).front(),
               ContainsSubstring("not f32 by f32"));
    CHECK(MmaMultistage::unsupported(problem_of(spec_of(GemmLayout::tn)), find_arch("sm_80")).empty());
}

TEST_CASE("alignment decides how operands are copied, packing lifts it to 16 bytes") {
    MmaMultistageConfig c;
    for (const auto& [ld, bytes, async] : {std::tuple{1024, 16, true}, std::tuple{1028, 8, true},
                                           std::tuple{1026, 4, true}, std::tuple{1025, 16, false}}) {
        GemmSpec spec;
        spec.m = spec.n = 512;
        spec.k = 1024;
        spec.lda = ld;
        const TensorCoreGeometry g = geometry(problem_of(spec).signature, c);
        CHECK(g.a.vector_bytes == bytes);
        CHECK(g.a.async == async);
        CHECK(g.b.vector_bytes == 16);
        MmaMultistageConfig packed = c;
        packed.pack = Pack::a;
        CHECK(geometry(problem_of(spec).signature, packed).a.async);
        CHECK(geometry(problem_of(spec).signature, packed).a.vector_bytes == 16);
    }
}

TEST_CASE("every element of D has one owner, and an owner at most one element", "[heavy]") {
    GemmSpec spec = spec_of(GemmLayout::tn, 300, 200, 64);
    for (const Rasterization rasterization : {Rasterization::row, Rasterization::column, Rasterization::grouped_m,
                                              Rasterization::grouped_n, Rasterization::zigzag}) {
        MmaMultistageConfig c;
        c.block = {64, 32, 32};
        c.warp = {32, 16, 32};
        c.rasterization = rasterization;
        c.group = has_groups(rasterization) ? 3 : 1;
        const std::int64_t blocks = block_count({64, 32, 1}, 300, 200);
        std::set<std::tuple<std::int64_t, int, int, int>> owners;
        for (std::int64_t row = 0; row < spec.m; ++row)
            for (std::int64_t column = 0; column < spec.n; ++column) {
                const ElementOwner owner = MmaMultistage::owner(problem_of(spec), {c}, row, column);
                REQUIRE(owner.block < blocks);
                REQUIRE(owner.warp < 4);
                REQUIRE(owner.lane < 32);
                REQUIRE(owner.accumulator_register < 2 * 2 * 4);
                REQUIRE(owners.emplace(owner.block, owner.warp, owner.lane, owner.accumulator_register).second);
            }
    }
}

TEST_CASE("ldmatrix of every candidate meets no bank conflict, and threads divide into its copies") {
    for (const GemmLayout layout : kLayouts) {
        const GemmSpec spec = spec_of(layout, 4096, 4096, 4096);
        for (const Candidate& candidate : list_candidates(problem_of(spec), find_gpu("h200"),
                                                          {.kernel = {}, .family = "mma_multistage", .parameters = {}})
                                              .accepted) {
            const auto& c = std::get<MmaMultistageConfig>(candidate.config.family);
            const TensorCoreGeometry g = geometry(problem_of(spec).signature, c);
            const MmaAtom& atom = *find_mma_atom(c.mma, spec.a, spec.b, spec.accumulator);
            const TileShape repetitions{g.tiles_m, g.tiles_n, 1};
            for (const auto& [operand, shape, x] :
                 {std::tuple{Operand::a, g.a, c.ldmatrix_a}, std::tuple{Operand::b, g.b, c.ldmatrix_b}}) {
                REQUIRE(x == widest_ldmatrix(matrices_8x8(operand, c.mma, repetitions, kHalfBits)));
                const LdmatrixChoice choice{.x = x, .trans = !shape.k_major};
                const auto address = [&, &geometry_of = shape, &which = operand](int lane) {
                    const Coordinate first = ldmatrix_lane_row(atom, which, repetitions, choice, 0, lane);
                    const int row = geometry_of.k_major ? first.row : first.column;
                    const int column = geometry_of.k_major ? first.column : first.row;
                    return swizzled_offset(geometry_of.row_bytes, row, column / 8);
                };
                REQUIRE(ldmatrix_wavefronts(x, address) == x);
            }
        }
    }
}

TEST_CASE("the workspace holds packed operands and partial sums") {
    GemmSpec spec;
    spec.m = 100;
    spec.n = 33;
    spec.k = 77;
    spec = resolved(spec);
    MmaMultistageConfig c;
    CHECK(MmaMultistage::workspace_bytes(problem_of(spec), {c}) == 0);
    c.split_k = 3;
    CHECK(MmaMultistage::workspace_bytes(problem_of(spec), {c}) == 3 * 100 * 36 * 4);
    c.pack = Pack::ab;
    // 77 elements take two lines of L2: 100 rows are 25600 bytes, 33 rows 8448.
    CHECK(MmaMultistage::workspace_bytes(problem_of(spec), {c}) == 25600 + 8448 + 3 * 100 * 36 * 4);
    // 16 and 32 elements are a quarter and half of one; each operand is on the next multiple of 256.
    spec.k = 13;
    CHECK(MmaMultistage::workspace_bytes(problem_of(spec), {c}) == 3328 + 1280 + 3 * 100 * 36 * 4);
    spec.k = 17;
    CHECK(MmaMultistage::workspace_bytes(problem_of(spec), {c}) == 6400 + 2304 + 3 * 100 * 36 * 4);
}
