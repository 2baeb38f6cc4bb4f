#include "generator/layout/ldmatrix_plan.hpp"
#include "tests/catch.hpp"
#include "tests/support/cute_data.hpp"

#include <algorithm>
#include <sstream>
#include <string>

using namespace jitgemm;

namespace {

TiledMma mma_of(std::string_view atom, TileShape val, std::string_view warps = "(1,1,1)") {
    return {mma_atom(atom), parse_layout(warps), val};
}

constexpr std::string_view kK16 = "SM80_16x8x16_F32F16F16F32_TN";
constexpr std::string_view kK8 = "SM75_16x8x8_F32F16F16F32_TN";

/// "110": x1 and x2 are legal, x4 is not.
std::string legal(const LdmatrixPlan& plan) {
    std::string text;
    for (const LdmatrixOption& option : plan.options) text += option.legal ? '1' : '0';
    return text;
}

const LdmatrixOption& option_named(const LdmatrixPlan& plan, std::string_view name) {
    return *std::ranges::find_if(plan.options,
                                 [&](const LdmatrixOption& option) { return option.atom->cute_name == name; });
}

/// The element that an instruction leaves in byte `byte` of a lane's register, by the PTX ISA: of the matrix's row lane
/// / 4, bytes 4 · (lane % 4) and on; with .trans column lane / 4, rows 2 · (lane % 4) and the next, in units of 16
/// bits.
Coordinate delivered(const LdmatrixPlan& plan, const LdmatrixOption& option, int matrix, int lane, int byte, int bits) {
    const int in_instruction = matrix % option.atom->x, instruction = matrix / option.atom->x;
    const auto row_start = [&](int row) { return plan.lane_row(option, instruction, 8 * in_instruction + row); };
    if (plan.trans) {
        const Coordinate first = row_start(lane % 4 * 2 + byte / 2);
        return {first.row + lane / 4, first.column};
    }
    const Coordinate first = row_start(lane / 4);
    return {first.row, first.column + (lane % 4 * 4 + byte) * 8 / bits};
}

}  // namespace

TEST_CASE("the choice for 16x8x8 with two atoms along N: x2 or x1, x4 refused") {
    for (const Operand operand : {Operand::a, Operand::b}) {
        for (const bool k_major : {true, false}) {
            const LdmatrixPlan plan = plan_ldmatrix(mma_of(kK8, {1, 2, 1}), operand, k_major);
            CHECK(plan.matrices == 2);
            CHECK(plan.values_per_thread == 4);
            CHECK(plan.trans == !k_major);
            CHECK(legal(plan) == "110");
            CHECK((plan.options[0].instructions == 2 && plan.options[1].instructions == 1));
            REQUIRE(plan.best() == &plan.options[1]);
            CHECK(plan.best()->atom->cute_name == (k_major ? "SM75_U32x2_LDSM_N" : "SM75_U16x4_LDSM_T"));
        }
    }
    CHECK(plan_ldmatrix(mma_of(kK8, {1, 2, 1}), Operand::b, true).options[2].reason ==
          "the warp tile 16x8 (n×k) holds 2 matrices of 8x8, which x4 does not divide; x1 and x2 are legal");
}

TEST_CASE("the choice for 16x8x16 with two atoms along N is x4, for 16x8x8 with one B has only x1") {
    for (const bool k_major : {true, false}) {
        for (const Operand operand : {Operand::a, Operand::b}) {
            const LdmatrixPlan plan = plan_ldmatrix(mma_of(kK16, {1, 2, 1}), operand, k_major);
            CHECK((plan.matrices == 4 && legal(plan) == "111"));
            CHECK((plan.best()->atom->x == 4 && plan.best()->instructions == 1));
        }
        const LdmatrixPlan single = plan_ldmatrix(mma_of(kK8, {1, 1, 1}), Operand::b, k_major);
        CHECK((single.matrices == 1 && legal(single) == "100" && single.best()->atom->x == 1));
    }
}

// make_tiled_copy_A and _B of CuTe (CUTLASS 4.7, NVIDIA/cutlass 7107b05): get_layoutS_TV says which row each lane
// reads, get_layoutD_TV which element each register gets.
TEST_CASE("lanes read the rows that CuTe's tiled copies read") {
    const std::vector<std::string> lines = testing::cute_lines("cute_tiled_copy.txt", "ldsm");
    REQUIRE(lines.size() > 50);
    for (const std::string& line : lines) {
        INFO(line);
        std::istringstream words(line);
        const TiledMma mma = testing::read_tiled_mma(words);
        std::string operand_name, op, source_text, destination_text;
        words >> operand_name >> op >> source_text >> destination_text;
        const Operand operand = operand_name == "A" ? Operand::a : Operand::b;
        const LdmatrixPlan plan = plan_ldmatrix(mma, operand, op.back() == 'N');
        const LdmatrixOption& option = option_named(plan, op);
        REQUIRE(option.legal);
        const TvLayout tv = mma.layout_tv(operand);
        const TvLayout source(parse_layout(source_text), tv.rows(), tv.columns());
        const TvLayout destination(parse_layout(destination_text), tv.rows(), tv.columns());
        const int row_elements = 128 / bits(mma.atom().type(operand));
        CHECK(source.values() == option.instructions * row_elements);
        bool same = destination.values() == tv.values();
        for (int lane = 0; lane < 32; ++lane) {
            for (int i = 0; i < option.instructions; ++i)
                same = same && source.coordinate(lane, i * row_elements) == plan.lane_row(option, i, lane);
            for (int value = 0; same && value < tv.values(); ++value)
                same = destination.index(lane, value) == tv.index(lane, value);
        }
        CHECK(same);
    }
}

TEST_CASE("every legal option delivers to every register what the instruction wants there") {
    for (const std::string_view name :
         {kK8, kK16, std::string_view("SM80_16x8x8_F32TF32TF32F32_TN"),
          std::string_view("SM80_16x8x4_F32TF32TF32F32_TN"), std::string_view("SM80_8x8x16_S32S8S8S32_TN"),
          std::string_view("SM89_16x8x32_F32E4M3E5M2F32_TN"), std::string_view("SM80_16x8x64_S32S4S4S32_TN"),
          std::string_view("SM90_64x32x16_F32BF16BF16_RS"), std::string_view("SM90_64x32x32_S32S8U8_RS_TN")}) {
        const TiledMma mma = mma_of(name, {2, 2, 2}, "(1,2,1)");
        for (const Operand operand : {Operand::a, Operand::b}) {
            if (mma.atom().in_shared(operand)) continue;
            const int width = bits(mma.atom().type(operand)), each = 32 / width;
            const TvLayout tv = mma.layout_tv(operand);
            for (const bool k_major : {true, false}) {
                const LdmatrixPlan plan = plan_ldmatrix(mma, operand, k_major);
                INFO(name << ", " << to_string(operand) << (k_major ? ", k-major" : ", mn-major"));
                CHECK((plan.best() != nullptr) == (k_major || width == 16));
                CHECK(plan.matrices * each == plan.values_per_thread);
                for (const LdmatrixOption& option : plan.options) {
                    bool same = true;
                    for (int value = 0; option.legal && value < tv.values(); ++value) {
                        const int byte = value % each * width / 8, rest = width < 8 ? value % each % 2 : 0;
                        for (int lane = 0; lane < 32; ++lane) {
                            Coordinate got = delivered(plan, option, value / each, lane, byte, width);
                            got.column += rest;
                            same = same && got == tv.coordinate(lane, value);
                        }
                    }
                    CHECK(same);
                }
            }
        }
    }
}

TEST_CASE("one warp's plan has the lane rows of the kernels' ldmatrix") {
    for (const std::string_view name : {kK8, kK16}) {
        const TileShape val{2, 4, 2};
        const TiledMma mma = mma_of(name, val);
        for (const Operand operand : {Operand::a, Operand::b}) {
            const LdmatrixPlan plan = plan_ldmatrix(mma, operand, true);
            CHECK(plan.matrices == matrices_8x8(operand, mma.atom().shape, val, kHalfBits));
            for (int matrix = 0; matrix < plan.matrices; ++matrix)
                CHECK(plan.origins[static_cast<std::size_t>(matrix)] ==
                      matrix_origin(mma.atom(), operand, val, matrix));
        }
    }
}

TEST_CASE("operands that no ldmatrix loads say why") {
    const auto reason = [](std::string_view name, Operand operand, bool k_major) {
        const LdmatrixPlan plan = plan_ldmatrix(mma_of(name, {1, 1, 1}), operand, k_major);
        CHECK((plan.best() == nullptr && legal(plan) == "000" && plan.origins.empty()));
        return plan.options.front().reason;
    };
    using Catch::Matchers::ContainsSubstring;
    CHECK_THAT(reason("SM80_16x8x32_S32S8S8S32_TN", Operand::a, false), ContainsSubstring("units of 16 bits"));
    CHECK_THAT(reason("SM80_16x8x8_F32TF32TF32F32_TN", Operand::b, false), ContainsSubstring("tears tf32"));
    CHECK_THAT(reason("SM80_8x8x4_F64F64F64F64_TN", Operand::a, true), ContainsSubstring("two registers"));
    CHECK_THAT(reason("SM90_64x64x16_F32F16F16_SS", Operand::a, true), ContainsSubstring("from shared memory itself"));
    CHECK_THROWS_AS(plan_ldmatrix(mma_of(kK16, {1, 1, 1}), Operand::c, true), LayoutError);
    // A permutation of K that parts what one register holds.
    const TiledMma torn(mma_atom(kK16), parse_layout("(1,1,1)"),
                        {Tiler(), Tiler(), Tiler(parse_layout("(8,2):(2,1)"))});
    CHECK_THAT(plan_ldmatrix(torn, Operand::a, true).options.front().reason, ContainsSubstring("lane"));
}
