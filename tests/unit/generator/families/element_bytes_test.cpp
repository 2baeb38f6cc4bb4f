/// Sizes of tiles follow from the type of A and B and from the instruction table: a type that no family serves yet has
/// its own.

#include "generator/base/packed_operand.hpp"
#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/mma_sliced_k/geometry.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/families/wmma_multistage/geometry.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/wgmma_atom.hpp"
#include "tests/catch.hpp"

#include <array>
#include <optional>
#include <set>

using namespace jitgemm;

namespace {

GemmSignature signature_of(DataType type, GemmLayout layout = GemmLayout::tn) {
    return {.layout = layout, .a = type, .b = type, .c = std::nullopt, .d = DataType::bf16};
}

WgmmaGeometry wgmma_geometry(DataType type, int block_k, GemmLayout layout = GemmLayout::tn) {
    return geometry(signature_of(type, layout),
                    WgmmaWarpSpecializedConfig{.block = {128, 256, block_k}, .warpgroup = {64, 256, block_k}});
}

}  // namespace

TEST_CASE("the k of a wgmma is the instruction table's, for each type that a GEMM can name") {
    for (const DataType type : {DataType::f16, DataType::bf16, DataType::tf32, DataType::e4m3, DataType::e5m2})
        CHECK(wgmma_k(type) == wgmma_atom(*wgmma_form(type, type, DataType::f32, 128)).shape.k);
    CHECK(wgmma_k(DataType::s8) == wgmma_atom(*wgmma_form(DataType::s8, DataType::s8, DataType::s32, 128)).shape.k);
    for (const DataType type : {DataType::f16, DataType::e4m3})
        CHECK(find_mma_atom(sliced_mma(type), type, type, DataType::f32) != nullptr);
}

TEST_CASE("wgmma: a k-tile of 8-bit elements is twice as long in the same bytes") {
    const WgmmaGeometry halves = wgmma_geometry(DataType::bf16, 64);
    const WgmmaGeometry eights = wgmma_geometry(DataType::e4m3, 128);
    CHECK((halves.wgmma_k == 16 && eights.wgmma_k == 32));
    CHECK((halves.k_blocks == 4 && eights.k_blocks == 4));
    CHECK((halves.a.panel_elements == 64 && eights.a.panel_elements == 128));
    CHECK((halves.a.box == std::array{64, 128} && eights.a.box == std::array{128, 128}));
    CHECK((halves.b.panels == 1 && eights.b.panels == 1));
    CHECK((eights.a.bytes == 128 * 128 && eights.b.bytes == 256 * 128));
    CHECK((halves.stage_bytes == 49152 && eights.stage_bytes == halves.stage_bytes));
    CHECK(eights.shared_bytes == halves.shared_bytes);
    CHECK(wgmma_geometry(DataType::tf32, 32).stage_bytes == halves.stage_bytes);
}

TEST_CASE("wgmma: 8-bit elements lie in shared memory as in layout tn, whatever the layout") {
    CHECK_FALSE(wgmma_geometry(DataType::bf16, 64, GemmLayout::nt).b.k_major);
    for (const DataType type : {DataType::e4m3, DataType::s8})
        for (const GemmLayout layout : {GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
            const WgmmaGeometry turned = wgmma_geometry(type, 128, layout), usual = wgmma_geometry(type, 128);
            CHECK((turned.a.k_major && turned.b.k_major));
            CHECK((turned.a.box == usual.a.box && turned.b.box == usual.b.box));
            CHECK(turned.stage_bytes == usual.stage_bytes);
        }
}

TEST_CASE("the copy of a transposed operand is counted in blocks of whole tiles, 32 rows by 64 columns") {
    GemmSpec spec{.m = 33, .n = 5, .k = 65, .a = DataType::s8, .layout = GemmLayout::nt};
    CHECK((packed_a(spec).is_transposed && packed_b(spec).is_transposed));
    CHECK((packed_a(spec).rows == 33 && packed_a(spec).columns == 65 && packed_a(spec).pitch() == 128));
    CHECK((packed_a(spec).steps() == 2 * 2 * 32 && packed_b(spec).steps() == 2 * 32));
    spec.layout = GemmLayout::tn;
    CHECK((!packed_a(spec).is_transposed && packed_a(spec).steps() == 33 * 5));
    spec.a = spec.b = DataType::bf16;
    spec.layout = GemmLayout::nt;
    CHECK((!packed_a(spec).is_transposed && packed_a(spec).rows == 65));
}

TEST_CASE("mma_multistage and wmma: rows and stages of shared memory count the bytes of an element") {
    const auto rows = [](DataType type, int k, int mma_k) {
        return geometry(signature_of(type),
                        MmaMultistageConfig{.block = {128, 128, k}, .warp = {64, 64, k}, .mma = {16, 8, mma_k}});
    };
    const TensorCoreGeometry halves = rows(DataType::bf16, 32, 16);
    const TensorCoreGeometry eights = rows(DataType::e4m3, 64, 32);
    CHECK((halves.a.row_bytes == 64 && eights.a.row_bytes == 64));
    CHECK((halves.k_blocks == 2 && eights.k_blocks == 2));
    CHECK((eights.a.stage_bytes == halves.a.stage_bytes && eights.pipeline_bytes == halves.pipeline_bytes));
    CHECK(eights.fragment_registers == halves.fragment_registers);
    const WmmaMultistageConfig padded{.padding = 16};
    const OperandGeometry a = geometry(signature_of(DataType::s8), padded).a;
    CHECK((a.row_bytes == padded.block.k && a.pitch_bytes == padded.block.k + 16));
}

TEST_CASE("candidates: a k-tile of 8-bit elements has the bytes of one of 16 bits") {
    const auto spec_of = [](DataType type) {
        GemmSpec spec{.m = 4096, .n = 4096, .k = 4096, .a = type, .d = DataType::bf16};
        spec.sums = Summation::fast;
        return spec;
    };
    const auto row_bytes = [&](auto candidates, const char* gpu, DataType type) {
        std::set<int> found;
        for (const auto& config : candidates(problem_of(spec_of(type)), find_gpu(gpu)))
            found.insert(config.block.k * bytes(type));
        return found;
    };
    for (const DataType type : {DataType::bf16, DataType::e4m3}) {
        CHECK(row_bytes(MmaMultistage::candidates, "l40s", type) == std::set{64, 128, 256});
        CHECK(row_bytes(WgmmaWarpSpecialized::candidates, "h200", type) == std::set{128, 256});
        for (const MmaMultistageConfig& config :
             MmaMultistage::candidates(problem_of(spec_of(type)), find_gpu("l40s"))) {
            REQUIRE(find_mma_atom(config.mma, type, type, DataType::f32) != nullptr);
            REQUIRE(config.ldmatrix_a == 4);
        }
    }
}

TEST_CASE("templates have numbers for the types that they can convert, and for no other") {
    CHECK((type_code(std::nullopt) == 3 && type_code(DataType::f16) == 0 && type_code(DataType::bf16) == 1));
    CHECK(type_code(DataType::f32) == 2);
    CHECK((type_code(DataType::e4m3) == 4 && type_code(DataType::e5m2) == 5));
    CHECK_THROWS_WITH(type_code(DataType::tf32), Catch::Matchers::ContainsSubstring("tf32"));
}

TEST_CASE("sliced-K: a warp's panel has lines of 128 bytes, whatever the type") {
    const MmaSlicedKConfig config{.block = {16, 8, 1024}};
    const SlicedKGeometry halves = geometry(signature_of(DataType::bf16), config);
    const SlicedKGeometry eights = geometry(signature_of(DataType::e4m3), config);
    CHECK((halves.panel_k == 64 && eights.panel_k == 128));
    CHECK((halves.warps == 16 && eights.warps == 8));
    CHECK((halves.of_long.line_bytes == 128 && eights.of_long.line_bytes == 128));
    CHECK((eights.stage_bytes == halves.stage_bytes && 2 * eights.pipeline_bytes == halves.pipeline_bytes));
    CHECK((halves.mma.k == 16 && eights.mma.k == 32));
}

TEST_CASE("a packed copy's rows are whole lines, halves or quarters of one, whatever the type") {
    GemmSpec spec{.m = 3, .n = 8, .k = 70, .a = DataType::bf16, .b = DataType::bf16};
    CHECK((packed_a(spec).pitch() == 128 && packed_a(spec).vectors() == 3 * 9));
    spec.a = DataType::e4m3;
    CHECK((packed_a(spec).pitch() == 128 && packed_a(spec).vectors() == 3 * 5));
    CHECK((packed_a(spec).bytes() == 210 && packed_a(spec).packed_bytes() == 384));
    spec.k = 33;
    CHECK(packed_a(spec).pitch() == 64);
    spec.a = DataType::bf16;
    CHECK(packed_a(spec).pitch() == 64);
    spec.k = 32;
    CHECK(packed_a(spec).pitch() == 32);
}
