#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <vector>

/// \file The choice passes over groups of candidates whose bound is above the best cost. These tests hold it against
/// the cost of every candidate.

namespace {

using namespace jitgemm;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;

/// Evenly in their logarithm. Four of ten are multiples of 8, four are not, and the others are powers of two.
std::int64_t random_extent(std::mt19937& random) {
    const double largest = 15;  // a power of two
    const double exponent = largest * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    const auto kind = random() % 10;
    const auto extent = static_cast<std::int64_t>(std::exp2(kind < 8 ? exponent : std::floor(exponent)));
    return kind < 4 ? (extent + 7) / 8 * 8 : extent;
}

template <typename T>
T any_of(std::mt19937& random, std::initializer_list<T> values) {
    return values.begin()[random() % values.size()];
}

/// Of any extents, types that families serve, orders and promises.
Problem random_problem(std::mt19937& random) {
    const auto in_ten = [&](unsigned times) { return random() % 10 < times; };
    GemmSpec spec = gemm_spec_of_type(any_of(random, {DataType::bf16, DataType::bf16, DataType::f16, DataType::f32}));
    spec.m = random_extent(random);
    spec.n = random_extent(random);
    spec.k = random_extent(random);
    spec.layout = any_of(random, {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt});
    spec.d_order = in_ten(2) ? Order::column : Order::row;
    if (in_ten(2)) spec.d = DataType::f32;
    if (in_ten(4)) spec.c = spec.d;
    spec.broadcast_c = spec.c.has_value() && in_ten(4);
    spec.constant_a = in_ten(3);
    spec.constant_b = in_ten(5);
    if (in_ten(1)) spec.deterministic = Determinism::batch_invariant;
    return problem_of(spec);
}

const GpuModel& random_gpu(std::mt19937& random) {
    constexpr const char* kGpus[] = {"h200", "h100", "h200", "a100", "rtx4090"};
    return find_gpu(kGpus[random() % std::size(kGpus)]);
}

std::vector<const Family*> serving_families(const Problem& problem, const Arch& arch) {
    std::vector<const Family*> families;
    for (const Family& family : family_table())
        if (family.unsupported(problem, arch).empty()) families.push_back(&family);
    return families;
}

}  // namespace

TEST_CASE("the choice is the fastest of all candidates, of whose groups it passes over most") {
    std::mt19937 random(71);
    int compared = 0;
    for (int i = 0; i < 300; ++i) {
        const Problem problem = random_problem(random);
        const GpuModel& gpu = random_gpu(random);
        INFO(gpu.name << ": " << to_string(problem.asked));
        const CandidateList all = list_candidates(problem, gpu);
        if (all.accepted.empty()) {
            CHECK_THROWS_AS(choose_config(problem, gpu), ConfigError);
            continue;
        }
        ++compared;
        const Candidate& best = all.accepted.front();
        CHECK(kernel_name(problem, choose_config(problem, gpu)) == kernel_name(problem, best.config));
        constexpr double kSlack = 1.06;
        const auto is_far = [&](const Candidate& one) {
            return one.cost.total_us > best.cost.total_us * kSlack ||
                   family_of(one.config).is_untimed(one.config) != family_of(best.config).is_untimed(best.config);
        };
        std::vector<Candidate> expected = all.accepted;
        std::erase_if(expected, is_far);
        const std::vector<Candidate> near = near_candidates(problem, gpu, {}, kSlack);
        CHECK(std::ranges::equal(near, expected, {}, &Candidate::config, &Candidate::config));
    }
    CHECK(compared > 250);
}

TEST_CASE("the bound of a group is below the cost of each of its candidates, and a limit leaves out none below it") {
    std::mt19937 random(72);
    for (int i = 0; i < 60; ++i) {
        const Problem problem = random_problem(random);
        const GpuModel& gpu = random_gpu(random);
        INFO(gpu.name << ": " << to_string(problem.asked));
        for (const Family* family : serving_families(problem, *gpu.arch)) {
            INFO(family->name);
            std::vector<KernelConfig> in_groups;
            for (const CandidateGroup<KernelConfig>& group : family->groups(problem, gpu)) {
                double least_us = kNoLimit;
                std::vector<double> us;
                const std::vector<KernelConfig> all = family->candidates_of(problem, group.tile, gpu, kNoLimit);
                for (const KernelConfig& config : all) {
                    us.push_back(family->cost(problem, config, gpu).total_us);
                    least_us = std::min(least_us, us.back());
                }
                in_groups.insert(in_groups.end(), all.begin(), all.end());
                REQUIRE(group.least_us <= least_us * (1 + kRounding));
                if (least_us == kNoLimit) continue;
                const double limit = least_us * 1.2;
                const std::vector<KernelConfig> fast =
                    family->candidates_of(problem, group.tile, gpu, limit * (1 + kRounding));
                for (std::size_t place = 0; place < all.size(); ++place)
                    if (us[place] <= limit) REQUIRE(std::ranges::find(fast, all[place]) != fast.end());
            }
            CHECK(in_groups == family->candidates(problem, gpu));
        }
    }
}
