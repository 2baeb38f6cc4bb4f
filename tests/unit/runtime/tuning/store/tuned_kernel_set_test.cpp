#include "runtime/tuning/store/tuned_kernel_set.hpp"
#include "tests/catch.hpp"
#include "tests/support/tuning_records.hpp"

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;

namespace {

GemmSpec with_rows(std::int64_t m) { return {.m = m, .n = 2048, .k = 1024}; }

}  // namespace

TEST_CASE("a kernel set serves a tuned m with its winner, for a row-major and a column-major D") {
    for (const Order order : {Order::row, Order::column}) {
        GemmSpec spec = with_rows(304);
        spec.d_order = order;
        Winner winner = winner_for(problem_of(spec).row_major(), 40, 10);
        winner.heuristic_us = 14;
        const TunedChoices choices({winner}, h200_facts().versions);
        REQUIRE(choices.choose(problem_of(spec), find_gpu("h200")).source == ChoiceSource::exact);
        const KernelSet set = tuned_kernel_set(spec, 290, 310, find_gpu("h200"), {}, choices);
        CHECK(kernel_name(set.kernels[set.range_of(304).kernel].id) == winner.kernel);
        const KernelSet plain = tuned_kernel_set(spec, 290, 310, find_gpu("h200"), {}, TunedChoices());
        CHECK(kernel_name(plain.kernels[plain.range_of(304).kernel].id) != winner.kernel);
        CHECK(plain == build_kernel_set(spec, 290, 310, find_gpu("h200")));
    }
}
