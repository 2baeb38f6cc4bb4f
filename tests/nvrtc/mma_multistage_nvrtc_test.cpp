/// ptxas spills no registers of mma_multistage for choices with split-K, narrow alignments or C.

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/specs.hpp"

#include <string_view>
#include <utility>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// A kernel by its name alone, for a problem that every split has work of.
KernelSource source_of_name(std::string_view name, std::string_view arch) {
    const auto& [kernel, config] = parse_kernel_name(name);
    GemmSpec spec = spec_of(kernel.layout, 1024, 1024, 65536, kernel.a);
    spec.c = kernel.c;
    spec.d = kernel.d;
    spec.align_a = kernel.align_a;
    spec.align_b = kernel.align_b;
    spec.align_d = kernel.align_d;
    return generate(problem_of(spec), config, find_arch(arch));
}

void check_choice(const GemmSpec& asked, std::string_view gpu) {
    const GemmSpec spec = resolved(asked);
    const GpuModel& model = find_gpu(gpu);
    INFO(to_string(spec));
    check_no_spills(generate(problem_of(spec), choose_config(problem_of(spec), model), *model.arch), 30);
}

}  // namespace

TEST_CASE("mma_multistage: no choice spills whose threads need fewer registers than they may have") {
    const std::pair<const char*, const char*> kernels[] = {
        {"mma_multistage_f16_nt_32x64x128_warp16x32_stages4_split56_pdl", "sm_90a"},
        {"mma_multistage_f16_nn_c_32x64x128_warp16x32_stages3_split4_pdl_align16.16.2", "sm_90a"},
        {"mma_multistage_f16_tn_c-f32_32x32x128_warp16x16_stages4_split56_align4.8.4", "sm_80"},
        {"mma_multistage_bf16_tn_c-f32_128x32x128_warp32x32_stages3_split2_packa_align2.4.4", "sm_80"},
        {"mma_multistage_bf16_tn_d-f16_32x32x32_warp16x16_stages2_align2.2.8", "sm_80"},
        {"mma_multistage_bf16_nn_64x64x128_warp32x32_stages4", "sm_80"},
        {"mma_multistage_bf16_nt_c_d-f16_256x128x32_warp64x64_stages4_align8.4.16", "sm_87"},
        {"mma_multistage_f16_nn_64x32x64_warp32x16_stages4_align16.8.16", "sm_120"},
    };
    for (const auto& [name, arch] : kernels) check_no_spills(source_of_name(name, arch), 30);
}

TEST_CASE("mma_multistage: no choice with split-K spills") {
    for (const char* const gpu : {"h200", "a100"})
        for (const GemmLayout layout : kLayouts) check_choice(spec_of(layout, 64, 64, 500000, DataType::f16), gpu);
}

TEST_CASE("mma_multistage: no choice spills for rows of any pitch and C") {
    for (const char* const gpu : {"h200", "a100"})
        for (const GemmLayout layout : kLayouts) {
            GemmSpec spec = spec_of(layout, 129, 127, 333);
            spec.c = DataType::bf16;
            check_choice(spec, gpu);
            spec.n = 128;
            check_choice(spec, gpu);
        }
}

TEST_CASE("mma_multistage: no choice of 8 bits spills") {
    GemmSpec spec = spec_of(GemmLayout::tn, 4096, 4096, 4096, DataType::s8);
    check_choice(spec, "a100");
    spec = spec_of(GemmLayout::tn, 4096, 4096, 4096, DataType::e4m3);
    check_choice(spec, "rtx4090");
    spec.b = DataType::e5m2;
    spec.c = spec.d = DataType::f32;
    check_choice(spec, "rtx5090");
}

TEST_CASE(
    "mma_multistage: nor does the entry spill that adds up the most splits, with as many loads in flight as it has "
    "registers for") {
    GemmSpec spec = spec_of(GemmLayout::tn, 8, 8, 66256);
    spec.c = DataType::bf16;
    MmaMultistageConfig most;
    for (const KernelConfig& candidate :
         find_family("mma_multistage").candidates(problem_of(spec), typical_gpu(find_arch("sm_90a")))) {
        const auto& c = candidate.as<MmaMultistageConfig>();
        if (c.splits_in_workspace() && c.split_k >= most.split_k) most = c;
    }
    REQUIRE(most.split_k == 56);
    check_no_spills(generate(problem_of(spec), {most}, find_arch("sm_90a")), 30);
}
