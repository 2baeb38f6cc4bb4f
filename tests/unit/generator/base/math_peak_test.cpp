#include "generator/base/arch.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

TEST_CASE("peaks are told apart by instruction, operands and sums") {
    const Arch& hopper = find_arch("sm_90a");
    using enum MathInstruction;
    CHECK(flops_per_clock(hopper, wgmma, DataType::bf16, DataType::f32) == 4096);
    CHECK(flops_per_clock(hopper, wgmma, DataType::e5m2, DataType::f32) == 8192);
    CHECK(flops_per_clock(hopper, wgmma, DataType::tf32, DataType::f32) == 2048);
    CHECK(flops_per_clock(hopper, wgmma, DataType::bf16, DataType::f16) == 4096);
    CHECK(flops_per_clock(hopper, mma, DataType::bf16, DataType::f32) == 2729);
    CHECK(flops_per_clock(hopper, fma, DataType::f32, DataType::f32) == 256);
    CHECK(flops_per_clock(find_arch("sm_80"), wgmma, DataType::f16, DataType::f32) == 0);
    CHECK(flops_per_clock(find_arch("sm_89"), mma, DataType::f16, DataType::f16) ==
          2 * flops_per_clock(find_arch("sm_89"), mma, DataType::f16, DataType::f32));
}

// A100 white paper, table 1: 312, 156 and 624 T operations per second of 108 SMs at 1410 MHz; 19.5 on the FP32 cores.
TEST_CASE("peaks of an A100 come to its data sheet") {
    const Arch& ampere = find_arch("sm_80");
    const auto tera = [&](MathInstruction instruction, DataType operands, DataType sums) {
        return flops_per_clock(ampere, instruction, operands, sums) * 108 * 1.41e9 / 1e12;
    };
    CHECK(tera(MathInstruction::mma, DataType::f16, DataType::f32) == Approx(312).epsilon(0.01));
    CHECK(tera(MathInstruction::mma, DataType::tf32, DataType::f32) == Approx(156).epsilon(0.01));
    CHECK(tera(MathInstruction::mma, DataType::s8, DataType::s32) == Approx(624).epsilon(0.01));
    CHECK(tera(MathInstruction::fma, DataType::f32, DataType::f32) == Approx(19.5).epsilon(0.01));
}

TEST_CASE("every architecture has mma.sync and fma, and wgmma only what has it") {
    for (const Arch& arch : arch_table()) {
        INFO(arch.name);
        CHECK(mma_flops_per_clock(arch) > 0);
        CHECK(fma_flops_per_clock(arch) > 0);
        CHECK((flops_per_clock(arch, MathInstruction::wgmma, DataType::f16, DataType::f32) > 0) == arch.has_wgmma);
    }
}
