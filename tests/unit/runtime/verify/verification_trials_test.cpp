#include "runtime/verify/trials.hpp"

#include "runtime/verify/reference_arguments.hpp"
#include "tests/catch.hpp"

#include <algorithm>

using namespace jitgemm;

namespace {

GemmSpec problem(std::int64_t m, std::int64_t n, std::int64_t k) { return resolved({.m = m, .n = n, .k = k}); }

constexpr TrialBudget kRich{.launch = 1, .scalars = 1e9, .seeds = 1e9};

std::int64_t outputs_seen(const GemmSpec& spec) {
    std::int64_t seen = 0;
    for (const TrialInputs& trial : integer_trials(spec, {}, kRich)) seen += trial.alpha == 1 ? spec.m * spec.n : 0;
    return seen;
}

/// Element (0, column) of a row filled sparsely.
double sparse_element(std::uint64_t seed, std::int64_t columns, std::int64_t group, std::int64_t column) {
    const DeviceMatrix row{.rows = 1, .columns = columns, .row_stride = columns, .column_stride = 1};
    const auto arguments = fill_arguments(row, {.kind = FillKind::sparse, .seed = seed, .group = group});
    return device_code::decode(device_code::filled(arguments, {0, 0, column}), device_code::kF32);
}

}  // namespace

TEST_CASE("some 64 elements of D are seen, with as many seeds as that takes") {
    CHECK(outputs_seen(problem(1, 1, 4097)) == 64);
    CHECK(outputs_seen(problem(3, 5, 4097)) == 75);
    CHECK(outputs_seen(problem(8, 8, 4097)) == 64);
    CHECK(outputs_seen(problem(100, 100, 4097)) == 10'000);
    CHECK(seeds_wanted(problem(0, 5, 7), 1e9) == 1);
    CHECK(seeds_wanted(resolved({.m = 1, .n = 1, .k = 7, .batch = 16}), 1e9) == 4);  // problems differ as seeds do
    CHECK(seeds_wanted(problem(1, 1, 7), 8) == 9);
}

TEST_CASE("each seed is another, and the caller's comes first") {
    const auto trials = integer_trials(problem(1, 1, 33), {.alpha = -2, .beta = 0, .seed = 5}, kRich);
    REQUIRE(trials.size() == 64);
    for (std::size_t i = 0; i < trials.size(); ++i) CHECK(trials[i].seed == 5 + i);
}

TEST_CASE("scalars that the caller did not name are tried where they cost little, C with another beta too") {
    GemmSpec spec = problem(100, 100, 100);
    CHECK(integer_trials(spec, {}, kRich).size() == 2);
    spec.c = DataType::f32;
    const auto trials = integer_trials(spec, {.alpha = 1, .beta = 1}, kRich);
    REQUIRE(trials.size() == 3);
    CHECK(std::ranges::any_of(trials, [](const TrialInputs& trial) { return trial.beta == 0; }));
    CHECK(std::ranges::any_of(trials, [](const TrialInputs& trial) { return trial.beta != 0 && trial.beta != 1; }));
    CHECK(integer_trials(spec, {}, {.launch = 10, .scalars = 9, .seeds = 9}).size() == 1);
}

TEST_CASE("a long K or a large D costs a GPU no further launch") {
    CHECK(integer_trials(problem(1, 1, 1'000'000'007), {}, gpu_budget(problem(1, 1, 1'000'000'007))).size() == 1);
    const GemmSpec large = problem(32768, 32768, 32768);
    CHECK(integer_trials(large, {}, gpu_budget(large)).size() == 1);
    const GemmSpec usual = problem(4096, 4096, 4096);
    CHECK(integer_trials(usual, {}, gpu_budget(usual)).size() == 2);
}

TEST_CASE("each group of a sparse row has one nonzero, a short last group too") {
    for (const std::int64_t columns : {1, 7, 10, 13, 4097}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            constexpr std::int64_t kGroup = 5;
            for (std::int64_t first = 0; first < columns; first += kGroup) {
                INFO(columns << ' ' << seed << ' ' << first);
                int nonzeros = 0;
                for (std::int64_t i = first; i < std::min(first + kGroup, columns); ++i)
                    nonzeros += sparse_element(seed, columns, kGroup, i) != 0 ? 1 : 0;
                CHECK(nonzeros == 1);
            }
        }
    }
}
