/// mma_multistage with f32 operands: what it serves and where, its rules, its choices.

#include "generator/families/family.hpp"
#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using enum DataType;

GemmSpec words(Math math, GemmLayout layout = GemmLayout::tn, std::int64_t size = 2048) {
    GemmSpec spec = spec_of(layout, size, size, size, f32);
    spec.math = math;
    return spec;
}

std::string unsupported(const GemmSpec& spec, std::string_view arch) {
    return fmt::format("{}",
                       fmt::join(find_family("mma_multistage").unsupported(problem_of(spec), find_arch(arch)), "\n"));
}

std::string violations(const GemmSpec& spec, std::string_view parameters, std::string_view arch) {
    const KernelConfig config = with_parameters({MmaMultistageConfig{}}, parse_parameters(std::string(parameters)));
    return fmt::format("{}", fmt::join(family_of(config).violations(problem_of(spec), config, find_arch(arch)), "\n"));
}

Candidate chosen(const GemmSpec& asked, std::string_view gpu) {
    return list_candidates(problem_of(asked), find_gpu(gpu), {}).accepted.front();
}

}  // namespace

TEST_CASE("mma.sync of f32: tf32 and parts from sm_80 on, in every layout, and no exact products") {
    for (const GemmLayout layout : kLayouts) {
        for (const Math math : {Math::tf32, Math::f16x3, Math::bf16x6, Math::tf32x3, Math::bf16x3})
            CHECK(unsupported(words(math, layout), "sm_80").empty());
        CHECK_THAT(unsupported(words(Math::ieee, layout), "sm_80"), Says("math other than ieee", "not f32 by f32"));
    }
}

TEST_CASE("mma.sync of f32: chosen for large products where there is no wgmma") {
    for (const GemmLayout layout : kLayouts) {
        CHECK(family_name(chosen(words(Math::tf32, layout), "a100").config) == "mma_multistage");
        CHECK(family_name(chosen(words(Math::f16x3, layout), "a100").config) == "mma_multistage");
        CHECK(family_name(chosen(words(Math::f16x3, layout), "h200").config) == "wgmma_warp_specialized");
    }
    CHECK(family_name(chosen(words(Math::ieee), "a100").config) == "simt_hierarchical");
    GemmSpec pairs = words(Math::f16x3);
    pairs.epilogue = "d[m,h] = silu(left(acc)) * right(acc)";
    CHECK(family_name(chosen(pairs, "h200").config) == "mma_multistage");
}

TEST_CASE("no predicted time of f32 beats its unit's peak") {
    for (const std::string_view name : {"a100", "rtx4090", "rtx5090", "h200"})
        for (const Math math : {Math::ieee, Math::tf32, Math::f16x3}) {
            const GpuModel& gpu = find_gpu(name);
            const Candidate best = chosen(words(math, GemmLayout::nn, 4096), name);
            const bool on_cores = family_of(best.config).math_unit == MathUnit::fp32_cores;
            const DataType type = on_cores ? f32 : multiplied_type(words(math));
            const MathInstruction instruction = on_cores              ? MathInstruction::fma
                                                : gpu.arch->has_wgmma ? MathInstruction::wgmma
                                                                      : MathInstruction::mma;
            const double flops_per_us = static_cast<double>(flops_per_clock(*gpu.arch, instruction, type, f32)) *
                                        gpu.sm_count * static_cast<double>(gpu.clock_mhz);
            INFO(name << " " << to_string(math));
            CHECK(best.cost.total_us > 2.0 * 4096 * 4096 * 4096 / flops_per_us);
        }
}

TEST_CASE("mma.sync of f32: rules") {
    const std::string_view kTile = "block=64x64x32,warp=32x32,stages=3,mma=16x8x8";
    CHECK(violations(words(Math::tf32), kTile, "sm_80").empty());
    CHECK_THAT(violations(words(Math::tf32), "block=64x64x32,warp=32x32,stages=3,mma=16x8x16", "sm_80"),
               Says("no mma.sync of shape 16x8x16", "f32"));
    CHECK_THAT(violations(words(Math::tf32x3), kTile, "sm_80"), Says("promote = 0", "32"));
    GemmSpec batch = words(Math::tf32, GemmLayout::nt, 100);
    batch.batch = 2;
    CHECK_THAT(violations(batch, std::string(kTile) + ",pack=ab", "sm_80"), Says("pack", "batch"));
    CHECK_THAT(violations(words(Math::tf32, GemmLayout::nt), std::string(kTile) + ",ldsm_a=2", "sm_80"),
               Says("ldmatrix of A = 2", "4"));
}

TEST_CASE("mma.sync of f32: no operand meets a bank twice") {
    for (const GemmLayout layout : kLayouts)
        for (const std::string_view tile : {"block=64x64x32,warp=32x32", "block=16x64x32,warp=16x16",
                                            "block=128x192x32,warp=64x48", "block=256x16x64,warp=64x16"}) {
            const GemmSpec spec = words(Math::tf32, layout);
            const KernelConfig config =
                with_parameters({MmaMultistageConfig{}}, parse_parameters(std::string(tile) + ",stages=2,mma=16x8x8"));
            INFO(tile << " " << to_string(layout));
            for (const SharedAccess& access : family_of(config).anatomy(problem_of(spec), config).accesses)
                if (access.in_mainloop) CHECK(access.wavefronts == access.ideal);
        }
}
