/// Winners of batches and groups serve similar ones: other numbers of problems, other sizes, other packed strides.

#include "runtime/tuning/store/nearness.hpp"
#include "generator/families/kernel_name.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "tests/catch.hpp"
#include "tests/support/tuning_records.hpp"

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;

namespace {

const GpuModel& kH200 = find_gpu("h200");

GemmSpec batch_of(std::int64_t batch, std::int64_t m, std::int64_t k = 1024) {
    return {.m = m, .n = 1024, .k = k, .batch = batch};
}

GemmSpec groups_of(std::int64_t groups, std::int64_t rows, std::int64_t k = 2048) {
    return {.m = groups * rows, .n = 1536, .k = k, .groups = groups};
}

GemmSpec groups_of_k(std::int64_t groups, std::int64_t of_each) {
    return {
        .m = 1536, .n = 2048, .k = groups * of_each, .layout = GemmLayout::nt, .ragged = Ragged::k, .groups = groups};
}

TunedChoice choice_for(const GemmSpec& tuned, const GemmSpec& asked) {
    return TunedChoices({winner_for(tuned)}, h200_facts().versions).choose(problem_of(asked), kH200);
}

bool serves(const GemmSpec& tuned, const GemmSpec& asked) {
    return choice_for(tuned, asked).source == ChoiceSource::nearest;
}

double distance(const GemmSpec& left, const GemmSpec& right) {
    return distance_between(resolved(left), resolved(right));
}

GemmSpec with(GemmSpec spec, const std::function<void(GemmSpec&)>& change) {
    change(spec);
    return spec;
}

}  // namespace

TEST_CASE("a batch's winner serves other numbers of problems, sizes and strides") {
    const GemmSpec tuned = batch_of(8, 1024);
    const TunedChoice choice = choice_for(tuned, batch_of(16, 1024));
    CHECK(choice.source == ChoiceSource::nearest);
    CHECK(choice.distance == 1.0);
    CHECK_THAT(choice.reason, Catch::Matchers::ContainsSubstring("1024x1024x1024 in a batch of 8"));
    CHECK(serves(tuned, batch_of(8, 1024, 960)));
    CHECK(serves(tuned, with(batch_of(8, 1024), [](GemmSpec& spec) { spec.batch_stride_a = 1 << 21; })));
    CHECK_FALSE(serves(tuned, batch_of(64, 1024)));  // three octaves
    CHECK(distance(tuned, batch_of(32, 1448)) == Catch::Detail::Approx(std::hypot(2.0, std::log2(1448.0 / 1024))));
}

TEST_CASE("a batch's winner does not serve one product, shared operands or arrays of addresses") {
    const GemmSpec tuned = batch_of(2, 1024);
    CHECK(serves(tuned, batch_of(2, 1024, 1088)));
    CHECK_FALSE(serves(tuned, batch_of(1, 1024)));
    CHECK_FALSE(serves(batch_of(1, 1024), tuned));
    CHECK_FALSE(serves(tuned, with(batch_of(2, 1024, 1088), [](GemmSpec& spec) { spec.batch_stride_b = 0; })));
    CHECK_FALSE(serves(tuned, with(batch_of(2, 1024, 1088), [](GemmSpec& spec) { spec.pointers = true; })));
    CHECK(serves(with(batch_of(8, 512), [](GemmSpec& spec) { spec.outer = OuterBatch{.inner = 4, .stride_b = 0}; }),
                 with(batch_of(12, 512), [](GemmSpec& spec) { spec.outer = OuterBatch{.inner = 6, .stride_b = 0}; })));
}

TEST_CASE("a winner of groups serves other numbers of groups and of expected rows") {
    const GemmSpec tuned = groups_of(128, 512);
    CHECK(serves(tuned, groups_of(120, 500)));
    CHECK(distance(tuned, groups_of(64, 512)) == 1.0);
    CHECK(distance(tuned, groups_of(128, 256)) == 1.0);
    // Room for more rows than are expected counts for nothing.
    GemmSpec few = groups_of(128, 4096);
    few.expected_rows = 500;
    CHECK(distance(tuned, few) == Catch::Detail::Approx(std::log2(512.0 / 500)));
    CHECK(serves(tuned, few));
    few.expected_rows = 16;
    CHECK_FALSE(serves(tuned, few));
    CHECK(serves(groups_of_k(16, 4096), groups_of_k(20, 4096)));
    CHECK(distance(groups_of_k(16, 4096), groups_of_k(16, 2048)) == 1.0);
    CHECK(class_of(resolved(groups_of_k(1, 64))) == class_of(resolved(groups_of_k(3, 64))));
}

TEST_CASE("a winner of groups serves no dense product, no gathered rows and no groups with room, nor they it") {
    const GemmSpec tuned = groups_of(2, 2048);
    const GemmSpec dense{.m = 4096, .n = 1536, .k = 2048};
    const GemmSpec gathered = with(tuned, [](GemmSpec& spec) { spec.source_rows = 4096; });
    const GemmSpec with_room = with(tuned, [](GemmSpec& spec) { spec.group_rows = 2048; });
    for (const GemmSpec& other : {dense, gathered, with_room}) {
        CHECK_FALSE(serves(tuned, other));
        CHECK_FALSE(serves(other, tuned));
    }
    const GemmSpec k_groups = groups_of_k(4, 2048);
    const GemmSpec batch{.m = 1536, .n = 2048, .k = 2048, .layout = GemmLayout::nt, .batch = 4};
    CHECK_FALSE(serves(k_groups, batch));
    CHECK_FALSE(serves(batch, k_groups));
}

TEST_CASE(
    "an installed winner of a dense product replaces no kernel of groups, and a small batch's none of a large one") {
    const GemmSpec dense{.m = 8192, .n = 4096, .k = 4096};
    const auto source = [&](const GemmSpec& won, const GemmSpec& asked, std::size_t rank) {
        Winner winner = winner_for(won, rank);
        winner.heuristic_kernel = kernel_name(problem_of(won), choose_config(problem_of(asked), kH200));
        const auto installed = [&](const KernelConfig&) { return std::vector{winner}; };
        return TunedChoices({}, {}, installed).choose(problem_of(asked), kH200).source;
    };
    GemmSpec groups = dense;
    groups.groups = 4;
    CHECK(source(dense, dense, 1) == ChoiceSource::installed);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        CHECK(source(dense, groups, rank) == ChoiceSource::heuristic);
        CHECK(source(groups, dense, rank) == ChoiceSource::heuristic);
    }
}
