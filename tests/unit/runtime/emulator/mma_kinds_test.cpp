// The instructions mma and wmma: how their operands lie in a warp, and which generation has which.

#include "runtime/emulator/tensor_core.hpp"

#include "tests/catch.hpp"
#include "tests/support/mma_warp.hpp"

#include <set>
#include <string>
#include <utility>

using namespace jitgemm;
using namespace jitgemm::emulator;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

// ---- fragments ------------------------------------------------------------------------------------------------------

TEST_CASE("fragments of mma lie as the instruction table has them") {
    int compared = 0;
    for (const MmaKind& kind : mma_kinds()) {
        for (const MmaAtom& atom : mma_atom_table()) {
            const bool same = std::string(atom.ptx_name)
                                  .find("." + to_string(kind).substr(0, to_string(kind).find('.')) + ".row.col" +
                                        to_string(kind).substr(to_string(kind).find('.'))) != std::string::npos;
            if (!same) continue;
            ++compared;
            for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
                REQUIRE(mma_elements(kind, operand) == atom.layout(operand).values());
                for (int lane = 0; lane < kWarpLanes; ++lane)
                    for (int i = 0; i < mma_elements(kind, operand); ++i)
                        REQUIRE(mma_coordinate(kind, operand, lane, i) == atom.layout(operand).coordinate(lane, i));
            }
        }
    }
    REQUIRE(compared == static_cast<int>(mma_kinds().size()));  // each is in the table once; .satfinite forms lie alike
}

TEST_CASE("every element of an mma's operands lies in exactly one place") {
    for (const MmaKind& kind : mma_kinds()) {
        for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
            std::set<std::pair<int, int>> seen;
            for (int lane = 0; lane < kWarpLanes; ++lane) {
                for (int i = 0; i < mma_elements(kind, operand); ++i) {
                    const Coordinate at = mma_coordinate(kind, operand, lane, i);
                    REQUIRE(at.row < (operand == Operand::b ? kind.n : kind.m));
                    REQUIRE(at.column < (operand == Operand::c ? kind.n : kind.k));
                    REQUIRE(seen.emplace(at.row, at.column).second);
                }
            }
            REQUIRE(static_cast<int>(seen.size()) == kWarpLanes * mma_elements(kind, operand));
        }
    }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k32" and "m16n8k64": the formulas of the figures.
TEST_CASE("8-bit and 4-bit fragments lie as the PTX ISA says") {
    const MmaKind s8{16, 8, 32, MmaType::s8, MmaType::s8, MmaType::s32, MmaType::s32};
    REQUIRE(mma_coordinate(s8, Operand::a, 5, 0) == Coordinate{1, 4});
    REQUIRE(mma_coordinate(s8, Operand::a, 5, 7) == Coordinate{9, 7});
    REQUIRE(mma_coordinate(s8, Operand::a, 5, 8) == Coordinate{1, 20});
    REQUIRE(mma_coordinate(s8, Operand::b, 31, 5) == Coordinate{7, 29});
    const MmaKind s4{16, 8, 64, MmaType::s4, MmaType::s4, MmaType::s32, MmaType::s32};
    REQUIRE(mma_coordinate(s4, Operand::a, 6, 9) == Coordinate{9, 17});
    REQUIRE(mma_coordinate(s4, Operand::b, 6, 15) == Coordinate{1, 55});
    const MmaRegisters registers = mma_registers(s4);
    REQUIRE(registers.a == 4);
    REQUIRE(registers.b == 2);
    REQUIRE(registers.c == 4);
}

TEST_CASE("wmma fragments have the registers of the PTX ISA and hold every element") {
    const MmaKind f16{8, 32, 16, MmaType::f16, MmaType::f16, MmaType::f16, MmaType::f16};
    REQUIRE(wmma_registers(f16).a == 8);
    REQUIRE(wmma_registers(f16).b == 8);
    REQUIRE(wmma_registers(f16).c == 4);
    const MmaKind bf16{32, 8, 16, MmaType::bf16, MmaType::bf16, MmaType::f32, MmaType::f32};
    REQUIRE(wmma_registers(bf16).a == 8);
    REQUIRE(wmma_registers(bf16).b == 2);
    REQUIRE(wmma_registers(bf16).c == 8);
}

// ---- generations, refusals ------------------------------------------------------------------------------------------

TEST_CASE("compute capabilities map to generations") {
    REQUIRE(tensor_core_model(75) == TensorCoreModel::turing);
    REQUIRE(tensor_core_model(80) == TensorCoreModel::ampere);
    REQUIRE(tensor_core_model(87) == TensorCoreModel::ampere);
    REQUIRE(tensor_core_model(89) == TensorCoreModel::ada);
    REQUIRE(tensor_core_model(90) == TensorCoreModel::hopper);
    REQUIRE(tensor_core_model(103) == TensorCoreModel::blackwell);
    REQUIRE(tensor_core_model(121) == TensorCoreModel::blackwell_rtx);
    REQUIRE_THROWS_WITH(tensor_core_model(70), ContainsSubstring("70"));
}

TEST_CASE("an instruction that a generation lacks is refused by name") {
    const MmaKind fp8{16, 8, 32, MmaType::e4m3, MmaType::e4m3, MmaType::f32, MmaType::f32};
    MmaWarp warp(fp8);
    REQUIRE_THROWS_WITH(warp.run(TensorCoreModel::ampere), ContainsSubstring("m16n8k32.f32.e4m3.e4m3.f32"));
    REQUIRE_FALSE(is_supported(MmaKind{16, 8, 8, MmaType::f16, MmaType::bf16, MmaType::f32, MmaType::f32}));
    MmaKind saturating = kF16;
    saturating.saturate = true;
    REQUIRE_FALSE(is_supported(saturating));
}
