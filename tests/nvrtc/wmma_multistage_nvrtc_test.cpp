/// wmma_multistage through ptxas: the well-known tiles keep everything in registers, step by step.

#include "generator/generate.hpp"
#include "tests/catch.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/wmma_steps.hpp"

#include <algorithm>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

PtxasReport report_of(const GemmSpec& spec, const std::string& parameters, const char* arch) {
    const KernelConfig config = with_parameters({WmmaMultistageConfig{}}, parse_parameters(parameters));
    return compiled(generate(problem_of(spec), config, find_arch(arch))).report;
}

void check_clean(const GemmSpec& spec, const std::string& parameters, const char* arch = "sm_90a") {
    const PtxasReport report = report_of(spec, parameters, arch);
    INFO(to_string(resolved(spec)) << ' ' << parameters << ": " << report.registers << " registers");
    CHECK(report.registers > 60);
    CHECK(report.spill_store_bytes + report.spill_load_bytes + report.stack_bytes == 0);
    CHECK(std::ranges::none_of(report.warnings,
                               [](const std::string& line) { return line.find("C75") != std::string::npos; }));
}

}  // namespace

TEST_CASE("wmma: the defaults spill nothing in any layout and type") {
    for (const GemmLayout layout : kLayouts) {
        check_clean(f16(spec_of(layout, 4096, 4096, 4096), DataType::f16), "");
        check_clean(f16(spec_of(layout, 4096, 4096, 4096), DataType::f32), "");
        check_clean(spec_of(layout, 4096, 4096, 4096), "");
    }
    check_clean(f16(spec_of(GemmLayout::tn, 4096, 4096, 4096), DataType::f16), "", "sm_80");
}

TEST_CASE("wmma: no step of the ladder spills") {
    for (const WmmaStep& step : kWmmaSteps) {
        check_clean(f16(spec_of(GemmLayout::tn, 4096, 4096, 4096), DataType::f16), std::string(step.parameters));
        check_clean(f16(spec_of(GemmLayout::tn, 4096, 4096, 4096), DataType::f32), std::string(step.parameters));
    }
}

TEST_CASE("wmma: all fragment shapes assemble without spills on sm_80 and sm_90a") {
    for (const char* arch : {"sm_80", "sm_90a"})
        for (const char* mma : {"mma=16x16x16", "mma=32x8x16", "mma=8x32x16"})
            for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
                check_clean(f16(spec_of(layout, 512, 512, 512), DataType::f16), mma, arch);
                check_clean(spec_of(layout, 512, 512, 512), mma, arch);
            }
}
