/// ptxas spills no registers of a candidate of mma_sliced_k, and a dump with a main is a program.

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/cli/subprocess.hpp"
#include "tests/catch.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/sliced_k_checks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

const Arch& hopper() { return find_arch("sm_90a"); }

}  // namespace

TEST_CASE("sliced-K: no candidate spills, whatever the layout and C") {
    const Family& family = find_family("mma_sliced_k");
    for (const GemmLayout layout : kLayouts)
        for (const std::int64_t few : {8, 16, 32}) {
            GemmSpec spec = spec_of(layout, few, 4096, 2048);
            if (few == 16) spec.c = DataType::f32;
            spec = resolved(spec);
            for (const KernelConfig& candidate : family.candidates(problem_of(spec), typical_gpu(hopper()))) {
                if (!family.violations(problem_of(spec), candidate, hopper()).empty()) continue;
                check_no_spills(generate(problem_of(spec), candidate, hopper()), 30);
            }
        }
}

TEST_CASE("sliced-K: a dump with its main is a program that nvcc builds without a warning") {
    if (!cli::run_program({"nvcc", "--version"})) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    for (const std::string_view variant : {kSlicedKVariants[0], kSlicedKVariants[3]}) {
        const bool few_rows = variant.find("swap_ab=1") != std::string_view::npos;
        const GemmSpec spec =
            resolved(few_rows ? spec_of(GemmLayout::tn, 8, 520, 512) : spec_of(GemmLayout::tt, 520, 8, 512));
        const KernelConfig config = with_parameters({MmaSlicedKConfig{}}, parse_parameters(variant));
        TemporaryFolder folder;
        const KernelSource source = generate(problem_of(spec), config, hopper());
        put_text(folder / "main.cu", dump(source, problem_of(spec)) + host_main(source, problem_of(spec)));
        const auto result =
            cli::run_program({"nvcc", "-gencode", "arch=compute_90a,code=sm_90a", "-std=c++17", "-Werror",
                              "all-warnings", "-c", "-o", folder / "main.o", folder / "main.cu"});
        REQUIRE(result);
        CHECK(result->exit_code == 0);
    }
}
