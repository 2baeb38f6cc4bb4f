#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_spec.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/tuning_records.hpp"

#include <random>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

GemmSpec invariant(GemmSpec spec) {
    spec.deterministic = Determinism::batch_invariant;
    return spec;
}

SumOrder chosen_order(const GemmSpec& spec, const GpuModel& gpu) {
    const KernelConfig config = choose_config(problem_of(spec), gpu);
    return family_of(config).sum_order(spec.a, config);
}

}  // namespace

TEST_CASE("batch-invariant: whatever m is, all choices add up in one order, and on every architecture K is undivided") {
    std::mt19937 random(16);
    for (const GpuModel* const gpu : {&find_gpu("h200"), &find_gpu("a100"), &typical_gpu(find_arch("sm_89"))})
        for (int i = 0; i < 30; ++i) {
            GemmSpec spec = invariant(
                spec_of(pick(random, {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}), 0,
                        1 + static_cast<std::int64_t>(random() % 9000), 1 + static_cast<std::int64_t>(random() % 9000),
                        pick(random, {DataType::bf16, DataType::f16, DataType::f32})));
            spec.d_order = pick(random, {Order::row, Order::column});
            for (const std::int64_t m : {1, 2, 7, 16, 33, 64, 128, 500, 4096, 70000}) {
                spec.m = m;
                INFO(gpu->name << ": " << to_string(spec));
                const SumOrder order = chosen_order(spec, *gpu);
                CHECK(order == batch_invariant_order(spec, *gpu->arch));
                CHECK(order.in_k_order);
            }
        }
}

TEST_CASE("batch-invariant: few rows and a long K, which are divided unless it is asked for") {
    const GemmSpec spec = spec_of(GemmLayout::tn, 8, 512, 16384);
    CHECK_FALSE(chosen_order(spec, find_gpu("h200")).in_k_order);
    CHECK(chosen_order(invariant(spec), find_gpu("h200")).in_k_order);
    CHECK(chosen_order(invariant(spec), find_gpu("h200")).instruction == MathInstruction::wgmma);
    CHECK(chosen_order(invariant(spec), find_gpu("a100")).instruction == MathInstruction::mma);
}

TEST_CASE("batch-invariant: a kernel or a family that cannot is refused, and what is wanted is named") {
    const GemmSpec spec = invariant(spec_of(GemmLayout::tn, 8, 512, 16384));
    const GpuModel& gpu = find_gpu("h200");
    CHECK_THROWS_WITH(
        choose_config(problem_of(spec), gpu, {.kernel = {}, .family = {}, .parameters = {{"stream_k", "132"}}}),
        Says("batch_invariant", "sm_90a", "by wgmma", "in order of k", "not in order of k"));
    CHECK_THROWS_WITH(
        choose_config(problem_of(spec), gpu, {.kernel = {}, .family = "mma_multistage", .parameters = {}}),
        Says("batch_invariant", "mma.sync"));
    CHECK_THROWS_WITH(
        choose_config(problem_of(spec), gpu,
                      {.kernel = kernel_name(problem_of(spec),
                                             choose_config(problem_of(spec_of(GemmLayout::tn, 8, 512, 16384)), gpu)),
                       .family = {},
                       .parameters = {}}),
        ContainsSubstring("batch_invariant"));
    CHECK_THROWS_WITH(choose_config(problem_of(spec), find_gpu("a100"),
                                    {.kernel = {}, .family = {}, .parameters = {{"mma", "16x8x8"}}}),
                      Says("mma.sync", "8 of k"));
}

TEST_CASE("batch-invariant: a stored winner that divides K is passed over") {
    const GemmSpec spec = invariant(spec_of(GemmLayout::tn, 8, 512, 16384));
    const GpuModel& gpu = find_gpu("h200");
    Winner winner = winner_for(spec);
    const KernelConfig divided = choose_config(problem_of(spec_of(GemmLayout::tn, 8, 512, 16384)), gpu);
    winner.kernel = kernel_name(problem_of(spec), divided);
    winner.heuristic_kernel = kernel_name(problem_of(spec), choose_config(problem_of(spec), gpu));
    const TunedChoices choices({winner}, h200_facts().versions);
    const TunedChoice choice = choices.choose(problem_of(spec), gpu);
    CHECK(choice.source != ChoiceSource::exact);
    CHECK(family_of(choice.config).sum_order(spec.a, choice.config).in_k_order);
}
