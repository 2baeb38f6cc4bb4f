/// ptxas compiles the plain SIMT families as expected.

#include "generator/base/occupancy.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/simt_variants.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec problem(DataType type, GemmLayout layout) {
    GemmSpec spec = gemm_spec_of_type(type);
    spec.m = spec.n = spec.k = 1000;
    spec.layout = layout;
    if (type != DataType::f32) spec.c = DataType::f32;
    return resolved(spec);
}

int blocks_per_sm(const KernelAnatomy& anatomy, int registers, const Arch& arch) {
    return occupancy({.threads = anatomy.threads(), .registers = registers, .shared_bytes = anatomy.shared_bytes}, arch)
        .blocks();
}

void check_candidates(const GemmSpec& spec, const char* arch) {
    for (const std::string_view name : kSimtFamilies) {
        const Family& family = find_family(name);
        for (const KernelConfig& config : family.candidates(problem_of(spec), typical_gpu(find_arch(arch)))) {
            const KernelSource source = generate(problem_of(spec), config, find_arch(arch));
            INFO(source.name << " for " << arch);
            const PtxasReport report = compiled(source).report;
            CHECK(report.spill_store_bytes == 0);
            CHECK(report.warnings.empty());
            // The estimate of registers is for the cost model: what counts is how many blocks they let onto an SM.
            const KernelAnatomy anatomy = family.anatomy(problem_of(spec), config);
            CHECK(blocks_per_sm(anatomy, report.registers, *source.arch) + 1 >=
                  blocks_per_sm(anatomy, anatomy.registers(), *source.arch));
        }
    }
}

}  // namespace

TEST_CASE("no candidate of a SIMT family spills, f32 on sm_90a") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt})
        check_candidates(problem(DataType::f32, layout), "sm_90a");
}

TEST_CASE("no candidate of a SIMT family spills, f16 with C on sm_80") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt})
        check_candidates(problem(DataType::f16, layout), "sm_80");
}

TEST_CASE("simt_long_k: no choice spills whose threads have many sums and many copies") {
    GemmSpec spec = problem(DataType::f32, GemmLayout::tn);
    spec.m = 8;
    spec.n = 5120;
    spec.k = spec.lda = spec.ldb = 3072;
    spec.ldd = 5140;
    for (const char* const gpu : {"l4", "a100"}) {
        const GpuModel& model = find_gpu(gpu);
        check_no_spills(generate(problem_of(spec), choose_config(problem_of(spec), model), *model.arch), 30);
    }
}

TEST_CASE("simt_hierarchical: a winner measured without C is no choice where C makes it spill") {
    GemmSpec spec = gemm_spec_of_type(DataType::f32);
    spec.layout = GemmLayout::nn;
    spec.m = 4095;
    spec.n = 4093;
    spec.k = 4091;
    spec.c = DataType::f32;
    spec = resolved(spec);
    const GpuModel& gpu = find_gpu("h200");
    const KernelConfig winner =
        parse_kernel_name("simt_hierarchical_f32_nn_128x256x16_64x64_16x8_stages3_right_kl4_wave132").config;
    const Family& family = find_family("simt_hierarchical");
    CHECK_FALSE(family.violations(problem_of(spec), winner, *gpu.arch).empty());
    const KernelConfig wider = with_parameters(winner, {{"k_lanes", "8"}});
    CHECK(family.violations(problem_of(spec), wider, *gpu.arch).empty());
    check_no_spills(generate(problem_of(spec), wider, *gpu.arch), 100);
    check_no_spills(generate(problem_of(spec), choose_config(problem_of(spec), gpu), *gpu.arch), 100);
}
