/// What ptxas makes of mma_multistage with stream-K: the walk over pieces lives through the mainloop, and yet no candidate spills; and
/// its dump with a main is a program.

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/cli/subprocess.hpp"
#include "tests/catch.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/temporary_folder.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Of each block and warp tile the candidate with the most stages: others differ in their number alone.
std::vector<KernelSource> streamed_candidates(const GemmSpec& asked, const Arch& arch) {
    const GemmSpec spec = resolved(asked);
    const Family& family = find_family("mma_multistage");
    std::map<std::tuple<int, int, int, int, int, Pack>, MmaMultistageConfig> kinds;
    for (const KernelConfig& candidate : family.candidates(spec, typical_gpu(arch))) {
        const auto& c = candidate.as<MmaMultistageConfig>();
        if (c.stream_k == 0 || !family.violations(spec, candidate, arch).empty()) continue;
        const auto [kind, is_new] = kinds.try_emplace({c.block.m, c.block.n, c.block.k, c.warp.m, c.warp.n, c.pack}, c);
        if (c.stages > kind->second.stages) kind->second = c;
    }
    std::vector<KernelSource> sources;
    for (const auto& [key, config] : kinds) sources.push_back(generate(spec, {config}, arch));
    return sources;
}

void check_candidates(const GemmSpec& spec, std::string_view arch) {
    const std::vector<KernelSource> sources = streamed_candidates(spec, find_arch(arch));
    CHECK(sources.size() > 20);
    for (const KernelSource& source : sources) {
        check_no_spills(source, 30);
    }
}

}  // namespace

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
         find_family("mma_multistage").candidates(resolved(spec), typical_gpu(find_arch("sm_90a")))) {
        const auto& c = candidate.as<MmaMultistageConfig>();
        if (c.splits_in_workspace() && c.split_k >= most.split_k) most = c;
    }
    REQUIRE(most.split_k == 56);
    check_no_spills(generate(resolved(spec), {most}, find_arch("sm_90a")), 30);
}

TEST_CASE("mma_multistage: a dump of stream-K with its main is a program that nvcc builds without a warning") {
    if (!cli::run_program({"nvcc", "--version"})) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tt, 520, 776, 512));
    const KernelConfig config = with_parameters({MmaMultistageConfig{}}, parse_parameters(kStreamKVariants[0]));
    TemporaryFolder folder;
    const KernelSource source = generate(spec, config, find_arch("sm_80"));
    put_text(folder / "main.cu", dump(source, spec) + host_main(source, spec));
    const auto result = cli::run_program({"nvcc", "-arch=sm_80", "-std=c++17", "-Werror", "all-warnings", "-c", "-o",
                                          folder / "main.o", folder / "main.cu"});
    REQUIRE(result);
    CHECK(result->exit_code == 0);
}
