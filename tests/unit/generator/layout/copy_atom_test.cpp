#include "generator/layout/copy_atom.hpp"
#include "tests/catch.hpp"

#include <set>
#include <string>

using namespace jitgemm;

namespace {

constexpr TileShape kK16{16, 8, 16};
constexpr TileShape kK8{16, 8, 8};

const MmaAtom& atom_of(TileShape shape) { return *find_mma_atom(shape, DataType::bf16, DataType::bf16, DataType::f32); }

/// Lane addresses of the first instruction of the widest or a forced ldmatrix.
Coordinate lane_row(Operand operand, TileShape shape, TileShape repetitions, int x, bool trans, int lane,
                    int instruction = 0) {
    const LdmatrixChoice choice{.x = x, .trans = trans};
    return ldmatrix_lane_row(atom_of(shape), operand, repetitions, choice, instruction, lane);
}

}  // namespace

TEST_CASE("ldmatrix comes in three widths, with and without trans, named as PTX and CuTe name them") {
    CHECK(ldmatrix_table().size() == 6);
    std::set<std::string_view> cute_names;
    for (const LdmatrixAtom& row : ldmatrix_table()) {
        const std::string x = "x" + std::to_string(row.x);
        CHECK(row.ptx_name == "ldmatrix.sync.aligned.m8n8." + x + (row.trans ? ".trans" : "") + ".shared.b16");
        // CuTe counts 32-bit registers without trans and 16-bit elements with it.
        CHECK(row.cute_name ==
              (row.trans ? "SM75_U16x" + std::to_string(2 * row.x) + "_LDSM_T" : "SM75_U32" + x + "_LDSM_N"));
        CHECK(row.first_compute_capability == 75);
        CHECK(find_ldmatrix(row.x, row.trans) == &row);
        CHECK(cute_names.insert(row.cute_name).second);
    }
    CHECK(find_ldmatrix(3, false) == nullptr);
    CHECK(find_ldmatrix(8, true) == nullptr);
}

TEST_CASE("cp.async copies 4, 8 and 16 bytes, and only 16 past L1") {
    std::multiset<int> widths;
    for (const CpAsyncAtom& row : cp_async_table()) {
        widths.insert(row.bytes);
        CHECK(row.first_compute_capability == 80);
        CHECK((row.through_l1 || row.bytes == 16));
        CHECK(row.ptx_name == (row.through_l1 ? "cp.async.ca.shared.global" : "cp.async.cg.shared.global"));
    }
    CHECK(widths == std::multiset<int>{4, 8, 16, 16});
    CHECK(widest_cp_async(16)->ptx_name == "cp.async.cg.shared.global");
    CHECK(widest_cp_async(16)->bytes == 16);
    CHECK(widest_cp_async(8)->bytes == 8);
    CHECK(widest_cp_async(4)->bytes == 4);
    CHECK(widest_cp_async(2) == nullptr);
    CHECK(widest_cp_async(1) == nullptr);
}

TEST_CASE("K-major is A by rows and B by columns") {
    CHECK(is_k_major(Operand::a, GemmLayout::tn));
    CHECK(is_k_major(Operand::b, GemmLayout::tn));
    CHECK(!is_k_major(Operand::a, GemmLayout::nt));
    CHECK(!is_k_major(Operand::b, GemmLayout::nt));
    CHECK(!is_k_major(Operand::a, GemmLayout::nn));
    CHECK(is_k_major(Operand::b, GemmLayout::nn));
    CHECK(is_k_major(Operand::a, GemmLayout::tt));
    CHECK(!is_k_major(Operand::b, GemmLayout::tt));
}

TEST_CASE("the number of 8x8 matrices is the atom's times its repetitions") {
    CHECK(matrices_8x8(Operand::a, kK16, {1, 1, 1}, kHalfBits) == 4);
    CHECK(matrices_8x8(Operand::b, kK16, {1, 1, 1}, kHalfBits) == 2);
    CHECK(matrices_8x8(Operand::b, kK16, {1, 2, 1}, kHalfBits) == 4);
    CHECK(matrices_8x8(Operand::a, kK8, {1, 1, 1}, kHalfBits) == 2);
    CHECK(matrices_8x8(Operand::b, kK8, {1, 1, 1}, kHalfBits) == 1);
    CHECK(matrices_8x8(Operand::b, kK8, {4, 3, 1}, kHalfBits) == 3);
    CHECK(matrices_8x8(Operand::a, kK16, {4, 8, 2}, kHalfBits) == 32);
    CHECK(matrices_8x8(Operand::b, kK16, {4, 8, 2}, kHalfBits) == 32);
    CHECK(matrices_8x8(Operand::a, {16, 8, 32}, {1, 1, 1}, 8) == 4);  // of 16 elements in a row
    CHECK(matrices_8x8(Operand::b, {16, 8, 8}, {1, 4, 1}, 32) == 8);
}

TEST_CASE("16x8x8 with one atom: B is one matrix, so only x1 exists") {
    CHECK(ldmatrix_violations(Operand::b, 1, kK8, {1, 1, 1}, kHalfBits).empty());
    CHECK(ldmatrix_violations(Operand::b, 2, kK8, {1, 1, 1}, kHalfBits) ==
          std::vector<std::string>{
              "ldmatrix x2 of B: the warp tile 8x8 (n×k) holds 1 matrix of 8x8, which x2 does not divide; "
              "x1 is legal"});
    CHECK(ldmatrix_violations(Operand::b, 4, kK8, {1, 1, 1}, kHalfBits).size() == 1);
    CHECK(widest_ldmatrix(matrices_8x8(Operand::b, kK8, {1, 1, 1}, kHalfBits)) == 1);
}

TEST_CASE("16x8x8 with two atoms along N: A and B hold two matrices each, x4 is refused") {
    for (const Operand operand : {Operand::a, Operand::b}) {
        CHECK(ldmatrix_violations(operand, 1, kK8, {1, 2, 1}, kHalfBits).empty());
        CHECK(ldmatrix_violations(operand, 2, kK8, {1, 2, 1}, kHalfBits).empty());
        CHECK(widest_ldmatrix(matrices_8x8(operand, kK8, {1, 2, 1}, kHalfBits)) == 2);
    }
    CHECK(ldmatrix_violations(Operand::a, 4, kK8, {1, 2, 1}, kHalfBits).front() ==
          "ldmatrix x4 of A: the warp tile 16x8 (m×k) holds 2 matrices of 8x8, which x4 does not divide; x1 and x2 are "
          "legal");
    CHECK(ldmatrix_violations(Operand::b, 4, kK8, {1, 2, 1}, kHalfBits).front() ==
          "ldmatrix x4 of B: the warp tile 16x8 (n×k) holds 2 matrices of 8x8, which x4 does not divide; x1 and x2 are "
          "legal");
}

TEST_CASE("16x8x16 with two atoms along N takes x4 for both operands") {
    for (const Operand operand : {Operand::a, Operand::b})
        CHECK(widest_ldmatrix(matrices_8x8(operand, kK16, {1, 2, 1}, kHalfBits)) == 4);
    CHECK(matrices_8x8(Operand::b, kK16, {4, 8, 1}, kHalfBits) == 16);
}

TEST_CASE("a width is legal exactly when it divides, and widths that don't exist are refused") {
    for (int n = 1; n <= 12; ++n) {
        const int matrices = matrices_8x8(Operand::b, kK8, {1, n, 1}, kHalfBits);
        for (const int x : {1, 2, 4}) {
            CHECK(ldmatrix_violations(Operand::b, x, kK8, {1, n, 1}, kHalfBits).empty() == (matrices % x == 0));
        }
        CHECK(matrices % widest_ldmatrix(matrices) == 0);
    }
    for (const int x : {0, 3, 8, -1}) {
        REQUIRE(ldmatrix_violations(Operand::a, x, kK16, {4, 4, 1}, kHalfBits).size() == 1);
        CHECK(ldmatrix_violations(Operand::a, x, kK16, {4, 4, 1}, kHalfBits).front() ==
              "ldmatrix x" + std::to_string(x) + " of A: the widths are x1, x2 and x4");
    }
}

TEST_CASE("lane addresses of the usual ldmatrix forms") {
    for (int l = 0; l < 32; ++l) {
        INFO("lane " << l);
        // A row-major m16 x k16, x4; A column-major m16 x k16, x4.trans
        CHECK(lane_row(Operand::a, kK16, {1, 1, 1}, 4, false, l) == Coordinate{l & 15, 8 * (l >> 4)});
        CHECK(lane_row(Operand::a, kK16, {1, 1, 1}, 4, true, l) ==
              Coordinate{8 * ((l >> 3) & 1), (l & 7) + 8 * (l >> 4)});
        // B [n][k] n16 x k16, x4; B [k][n] k16 x n16, x4.trans
        CHECK(lane_row(Operand::b, kK16, {1, 2, 1}, 4, false, l) ==
              Coordinate{(l & 7) + 8 * (l >> 4), 8 * ((l >> 3) & 1)});
        CHECK(lane_row(Operand::b, kK16, {1, 2, 1}, 4, true, l) == Coordinate{8 * (l >> 4), l & 15});
        // B [n][k] n8 x k32 (two steps of K), x4
        CHECK(lane_row(Operand::b, kK16, {1, 1, 2}, 4, false, l) == Coordinate{l & 7, 8 * (l >> 3)});
        // k8: A m32 x k8 and B n32 x k8, x4
        CHECK(lane_row(Operand::a, kK8, {2, 1, 1}, 4, false, l) == Coordinate{l, 0});
        CHECK(lane_row(Operand::b, kK8, {1, 4, 1}, 4, false, l) == Coordinate{l, 0});
        CHECK(lane_row(Operand::b, kK8, {1, 4, 1}, 4, true, l) == Coordinate{8 * (l >> 3), l & 7});
    }
}

TEST_CASE("narrower ldmatrix: the same with fewer lanes, the others repeating them") {
    for (int l = 0; l < 32; ++l) {
        INFO("lane " << l);
        CHECK(lane_row(Operand::b, kK16, {1, 1, 1}, 2, false, l) == Coordinate{l & 7, 8 * ((l >> 3) & 1)});
        CHECK(lane_row(Operand::b, kK16, {1, 1, 1}, 2, true, l) == Coordinate{0, l & 15});
        CHECK(lane_row(Operand::a, kK8, {1, 1, 1}, 2, false, l) == Coordinate{l & 15, 0});
        CHECK(lane_row(Operand::b, kK8, {1, 1, 1}, 1, false, l) == Coordinate{l & 7, 0});
        CHECK(lane_row(Operand::b, kK8, {1, 1, 1}, 1, true, l) == Coordinate{0, l & 7});
        CHECK(lane_row(Operand::a, kK16, {1, 1, 1}, 1, false, l, 2) == Coordinate{l & 7, 8});
        CHECK(lane_row(Operand::a, kK16, {1, 1, 1}, 2, false, l, 1) == Coordinate{l & 15, 8});
    }
}

TEST_CASE("matrices follow the flat register order of the fragments") {
    for (int q = 0; q < 32; ++q) {
        INFO("matrix " << q);
        CHECK(matrix_origin(atom_of(kK16), Operand::a, {8, 1, 1}, q) ==
              Coordinate{16 * (q / 4) + 8 * (q % 2), 8 * (q / 2 % 2)});
        CHECK(matrix_origin(atom_of(kK8), Operand::a, {16, 1, 1}, q) == Coordinate{8 * q, 0});
        CHECK(matrix_origin(atom_of(kK16), Operand::b, {1, 16, 1}, q) == Coordinate{8 * (q / 2), 8 * (q % 2)});
        CHECK(matrix_origin(atom_of(kK8), Operand::b, {1, 32, 1}, q) == Coordinate{8 * q, 0});
    }
}

namespace {

/// ldmatrix leaves these in lane l's register: elements (row, column) of the warp-level tile, by the PTX ISA's
/// definition: row l/4, elements 2·(l%4) and the next, of the stored matrix, or column and row swapped with trans.
std::pair<Coordinate, Coordinate> delivered(const MmaAtom& atom, Operand operand, TileShape repetitions,
                                            const LdmatrixChoice& choice, int matrix, int lane) {
    const auto element = [&](int row, int along) {
        const int supplier = matrix % choice.x * 8 + row;
        const Coordinate first = ldmatrix_lane_row(atom, operand, repetitions, choice, matrix / choice.x, supplier);
        return choice.trans ? Coordinate{first.row + along, first.column} : Coordinate{first.row, first.column + along};
    };
    const int group = lane / 4;
    const int pair = lane % 4 * 2;
    if (choice.trans) return {element(pair, group), element(pair + 1, group)};
    return {element(group, pair), element(group, pair + 1)};
}

}  // namespace

TEST_CASE("ldmatrix delivers to every register what mma.sync wants there") {
    const TileShape repetitions{2, 4, 2};
    for (const TileShape shape : {kK16, kK8}) {
        const MmaAtom& atom = atom_of(shape);
        for (const Operand operand : {Operand::a, Operand::b}) {
            const TvLayout& fragment = atom.layout(operand);
            const int registers = atom.registers(operand);
            const int along = operand == Operand::a ? repetitions.m : repetitions.n;
            const int matrices = matrices_8x8(operand, shape, repetitions, kHalfBits);
            for (const int x : {1, 2, 4}) {
                for (const bool trans : {false, true}) {
                    const LdmatrixChoice choice{x, trans, matrices, matrices / x};
                    for (int matrix = 0; matrix < matrices; ++matrix) {
                        for (int lane = 0; lane < 32; ++lane) {
                            const int step = matrix / registers;
                            const Coordinate wanted = fragment.coordinate(lane, matrix % registers * 2);
                            const Coordinate first{wanted.row + step % along * fragment.rows(),
                                                   wanted.column + step / along * fragment.columns()};
                            const auto [low, high] = delivered(atom, operand, repetitions, choice, matrix, lane);
                            REQUIRE(low == first);
                            REQUIRE(high == Coordinate{first.row, first.column + 1});
                        }
                    }
                }
            }
        }
    }
}
