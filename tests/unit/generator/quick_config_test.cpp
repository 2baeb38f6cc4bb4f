#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"

#include <limits>
#include <optional>

namespace {

using namespace jitgemm;

double compile_ms(const KernelConfig& config) { return family_of(config).compile_ms(config); }

double predicted_us(const Problem& problem, const KernelConfig& config) {
    return family_of(config).cost(problem, config, find_gpu("h200")).total_us;
}

}  // namespace

TEST_CASE("a quick config breaks no rule, keeps to the limit and compiles no later than the choice") {
    const GpuModel& gpu = find_gpu("h200");
    int sooner = 0;
    for (const char* line : {"bf16 tn 4096 4096 4096", "bf16 nn 16384 16384 16384", "f16 tn 1 6144 4096",
                             "bf16 tn 4095 4097 4099", "bf16 nt 65536 65536 64", "f32 tn 8192 8192 8192",
                             "f32 nt 4 23 1353745", "bf16 tn 2147418111 8 8", "bf16 tn 3000 5000 777"})
        for (const Determinism deterministic : {Determinism::run_to_run, Determinism::batch_invariant}) {
            INFO(line << ", " << (deterministic == Determinism::run_to_run ? "run to run" : "batch invariant"));
            GemmSpec spec = parse_shape_line(line);
            spec.deterministic = deterministic;
            const Problem problem = problem_of(spec);
            const KernelConfig choice = choose_config(problem, gpu);
            const double limit_us = 4 * predicted_us(problem, choice);
            const std::optional<KernelConfig> quick = quick_config(problem, gpu, limit_us);
            REQUIRE(quick);
            INFO(kernel_name(problem, *quick) << " for " << kernel_name(problem, choice));
            CHECK(family_of(*quick).violations(problem, *quick, *gpu.arch).empty());
            CHECK(predicted_us(problem, *quick) <= limit_us);
            CHECK(compile_ms(*quick) <= compile_ms(choice));
            sooner += compile_ms(*quick) < 0.8 * compile_ms(choice) ? 1 : 0;
            if (deterministic == Determinism::batch_invariant)
                CHECK(family_of(*quick).sum_order(spec.a, *quick) == batch_invariant_order(spec, *gpu.arch));
        }
    CHECK(sooner >= 6);
}

TEST_CASE("no config is quick that takes longer than the limit") {
    const Problem problem = problem_of({.m = 512, .n = 512, .k = 512});
    CHECK_FALSE(quick_config(problem, find_gpu("h200"), 0.1));
    CHECK(quick_config(problem, find_gpu("h200"), std::numeric_limits<double>::infinity()));
}

TEST_CASE("larger tiles, stream-K and overlapped schedules compile later") {
    const auto of = [](const char* name) {
        return compile_ms(config_of_kernel(problem_of({.m = 4096, .n = 4096, .k = 4096}), name));
    };
    CHECK(of("wgmma_bf16_tn_128x64x64_stages4") < of("wgmma_bf16_tn_128x256x64_stages4"));
    CHECK(of("wgmma_bf16_tn_128x128x64_stages4") < of("wgmma_bf16_tn_128x128x64_stages4_streamk132"));
    CHECK(of("wgmma_bf16_tn_128x128x64_stages4") < of("wgmma_bf16_tn_256x128x64_overlapped_stages4"));
}
