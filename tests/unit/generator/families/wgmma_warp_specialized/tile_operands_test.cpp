/// How kernels of wgmma_warp_specialized get the operands of an epilogue.

#include "generator/families/wgmma_warp_specialized/tile_operands.hpp"

#include "generator/families/family.hpp"
#include "generator/families/shared/orientation.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <string>
#include <string_view>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::string_view kCooperative = "block=128x128x64,warpgroup=64x128,stages=4";
constexpr std::string_view kOverlapped = "block=128x128x64,warpgroup=128x128,schedule=overlapped,stages=4";
constexpr std::string_view kTurned = "block=128x64x64,warpgroup=64x64,swap_ab=1,stages=4";

GemmSpec with_text(std::string_view text) {
    GemmSpec spec = spec_of(GemmLayout::tn, 512, 512, 512);
    spec.epilogue = text;
    return resolved(spec);
}

TileOperands operands_of(const GemmSpec& spec, std::string_view parameters) {
    const WgmmaWarpSpecializedConfig config = wgmma_config(parameters);
    const GemmSignature signature = as_multiplied(problem_of(spec).signature, config.swap_ab);
    return tile_operands(signature, config, geometry(signature, config));
}

std::string text_of(const GemmSpec& spec, std::string_view parameters) {
    return WgmmaWarpSpecialized::render_input(problem_of(spec).signature, wgmma_config(parameters))
        .generated.at("tile_operands.inl");
}

OperandReader reader(std::string_view text, std::string_view parameters, std::size_t place = 0) {
    return operands_of(with_text(text), parameters).operands.at(place).reader;
}

}  // namespace

TEST_CASE("wgmma: an index says how an operand is read, of D^T the other way round") {
    CHECK(reader("d = acc + v[n]", kCooperative) == OperandReader::row_vector);
    CHECK(reader("d = acc + v[m]", kCooperative) == OperandReader::column_vector);
    CHECK(reader("d = acc + v[0]", kCooperative) == OperandReader::single);
    CHECK(reader("d = acc + v[n]", kTurned) == OperandReader::column_vector);
    CHECK(reader("d = acc + v[m]", kTurned) == OperandReader::row_vector);
    CHECK(reader("d = acc + v[m,n]", kTurned) == OperandReader::elements);
}

TEST_CASE("wgmma: the first matrix that lies as D does comes through the ring") {
    CHECK(reader("d = acc + x[m,n] * y[m,n]", kCooperative) == OperandReader::panels);
    CHECK(reader("d = acc + x[m,n] * y[m,n]", kCooperative, 1) == OperandReader::elements);
    CHECK(reader("x: f32[m,n]; d = acc + x[m,n]", kCooperative) == OperandReader::elements);
    CHECK(reader("d = acc + x[m,n]", "block=128x128x64,warpgroup=64x128,stages=4,store=smem") ==
          OperandReader::elements);
    GemmSpec odd = with_text("d = acc + x[m,n]");
    odd.epilogue = odd.epilogue.with("x", {.ld = 513});
    CHECK(operands_of(odd, kCooperative).operands.at(0).reader == OperandReader::elements);
    CHECK_FALSE(operands_of(odd, kCooperative).operands.at(0).by_pair);
}

TEST_CASE("wgmma: C is an operand as any other, which beta guards") {
    GemmSpec spec = spec_of(GemmLayout::tn, 512, 512, 512);
    CHECK(operands_of(resolved(spec), kCooperative).operands.empty());
    spec.c = spec.d;
    const TileOperands with_c = operands_of(resolved(spec), kCooperative);
    REQUIRE(with_c.has(OperandReader::panels));
    CHECK(with_c.operands.at(0).guard == "c_factor(args) != 0.0f");
    spec.broadcast_c = true;
    CHECK(operands_of(resolved(spec), std::string(kCooperative) + ",broadcast_c=1").has(OperandReader::row_vector));
    CHECK(operands_of(resolved(spec), std::string(kTurned) + ",broadcast_c=1").has(OperandReader::column_vector));
}

TEST_CASE("wgmma: what reads operands is written out, and nothing else") {
    CHECK_THAT(text_of(with_text("s: f32; d = acc + s * x[m,n]"), kCooperative),
               ContainsSubstring("x_here = args.s != 0.0f ? x_part.atom(slice, j, lane) : Atom{}"));
    const std::string vectors = text_of(with_text("bias: f32[n]; d = acc * v[m] + bias[n]"), kCooperative);
    CHECK_THAT(vectors, ContainsSubstring("v_part(args.v, row, edges.end_row, true, lane)"));
    CHECK_THAT(vectors, ContainsSubstring("RowVector<ElementPair<F32>> bias_part;"));
    CHECK_THAT(vectors, ContainsSubstring("there.v_part = v_part.below(rows);"));
    CHECK_THAT(vectors, !ContainsSubstring("panels"));
    CHECK_THAT(text_of(with_text("d = acc + v[m]"), kOverlapped), !ContainsSubstring("below"));
    CHECK(text_of(with_text("d = relu(acc)"), kCooperative).find("#include") == std::string::npos);
}
