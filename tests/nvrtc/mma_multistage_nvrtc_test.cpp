/// What ptxas makes of mma_multistage: neither a candidate with stream-K, whose walk over pieces lives through the mainloop, nor a choice
/// with split-K, narrow alignments or C spills registers. A dump of stream-K with its main is a program.

#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "runtime/cli/subprocess.hpp"
#include "tests/catch.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Of each block and warp tile the candidate with the most stages: others differ in their number alone.
std::vector<KernelSource> streamed_candidates(const GemmSpec& asked, const Arch& arch) {
    const GemmSpec spec = resolved(asked);
    const Family& family = find_family("mma_multistage");
    std::map<std::tuple<int, int, int, int, int, Pack>, MmaMultistageConfig> kinds;
    for (const KernelConfig& candidate : family.candidates(problem_of(spec), typical_gpu(arch))) {
        const auto& c = candidate.as<MmaMultistageConfig>();
        if (c.stream_k == 0 || !family.violations(problem_of(spec), candidate, arch).empty()) continue;
        const auto [kind, is_new] = kinds.try_emplace({c.block.m, c.block.n, c.block.k, c.warp.m, c.warp.n, c.pack}, c);
        if (c.stages > kind->second.stages) kind->second = c;
    }
    std::vector<KernelSource> sources;
    for (const auto& [key, config] : kinds) sources.push_back(generate(problem_of(spec), {config}, arch));
    return sources;
}

void check_candidates(const GemmSpec& spec, std::string_view arch) {
    const std::vector<KernelSource> sources = streamed_candidates(spec, find_arch(arch));
    CHECK(sources.size() > 20);
    for (const KernelSource& source : sources) {
        check_no_spills(source, 30);
    }
}

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

TEST_CASE("mma_multistage: no candidate with stream-K spills, sm_80, K-major operands") {
    check_candidates(spec_of(GemmLayout::tn, 3000, 2504, 2048), "sm_80");
}

TEST_CASE("mma_multistage: no candidate with stream-K spills, sm_90a, MN-major operands, C") {
    GemmSpec spec = spec_of(GemmLayout::nt, 3000, 2504, 2048);
    spec.c = spec.d = DataType::f32;
    check_candidates(spec, "sm_90a");
}

TEST_CASE("mma_multistage: no candidate with stream-K spills, sm_80, rows of any pitch") {
    check_candidates(spec_of(GemmLayout::tn, 3001, 2501, 2049), "sm_80");
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

TEST_CASE("mma_multistage: a dump of stream-K with its main is a program that nvcc builds without a warning") {
    if (!cli::run_program({"nvcc", "--version"})) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tt, 520, 776, 512));
    const KernelConfig config = with_parameters({MmaMultistageConfig{}}, parse_parameters(kStreamKVariants[0]));
    TemporaryFolder folder;
    const KernelSource source = generate(problem_of(spec), config, find_arch("sm_80"));
    put_text(folder / "main.cu", dump(source, problem_of(spec)) + host_main(source, problem_of(spec)));
    const auto result = cli::run_program({"nvcc", "-arch=sm_80", "-std=c++17", "-Werror", "all-warnings", "-c", "-o",
                                          folder / "main.o", folder / "main.cu"});
    REQUIRE(result);
    CHECK(result->exit_code == 0);
}
