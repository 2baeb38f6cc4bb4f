#include "generator/kernel_cover.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace jitgemm;

WorthTable random_worth(std::mt19937& random, std::size_t rows, std::size_t samples) {
    std::uniform_real_distribution<double> worth(0.6, 1.0);
    WorthTable table(rows, std::vector<double>(samples));
    for (std::vector<double>& row : table)
        for (double& one : row) one = random() % 4 == 0 ? 0 : worth(random);
    for (std::size_t i = 0; i < samples; ++i) table[random() % rows][i] = 1;
    return table;
}

std::vector<std::size_t> rows_of(unsigned subset) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; subset >> row != 0; ++row)
        if ((subset >> row & 1U) != 0) rows.push_back(row);
    return rows;
}

bool keeps_to(const WorthTable& table, const CoverLimits& limits, const std::vector<std::size_t>& rows) {
    double sum = 0;
    for (std::size_t i = 0; i < table.front().size(); ++i) {
        double best = 0;
        for (const std::size_t row : rows) best = std::max(best, table[row][i]);
        if (best < limits.least_worst) return false;
        sum += std::log(best);
    }
    return std::exp(sum / static_cast<double>(table.front().size())) >= limits.least_mean;
}

/// The size of the smallest subset within the limits, by trying all of them; `most` + 1 where there is none.
std::size_t fewest_by_brute_force(const WorthTable& table, const CoverLimits& limits) {
    std::size_t fewest = limits.most + 1;
    for (unsigned subset = 1; subset < 1U << table.size(); ++subset)
        if (static_cast<std::size_t>(std::popcount(subset)) < fewest && keeps_to(table, limits, rows_of(subset)))
            fewest = static_cast<std::size_t>(std::popcount(subset));
    return fewest;
}

}  // namespace

TEST_CASE("a cover keeps to its limits with as few rows as trying all subsets finds") {
    std::mt19937 random(7);
    int as_few = 0;
    int found = 0;
    for (int round = 0; round < 60; ++round) {
        const WorthTable table = random_worth(random, 10, 12);
        const CoverLimits limits{.most = 6, .least_mean = 0.9, .least_worst = 0.75};
        const Cover cover = choose_cover(table, limits);
        const std::size_t fewest = fewest_by_brute_force(table, limits);
        REQUIRE(cover.chosen.size() <= limits.most);
        if (fewest > limits.most) continue;
        ++found;
        if (!keeps_to(table, limits, cover.chosen)) continue;
        CHECK(cover.chosen.size() >= fewest);
        if (cover.chosen.size() == fewest) ++as_few;
    }
    REQUIRE(found > 20);
    CHECK(as_few >= found * 8 / 10);  // the search is no full one
}

TEST_CASE("a cover of one row that is best everywhere has that row alone") {
    const WorthTable table{{0.9, 0.8, 1.0}, {1, 1, 1}, {1, 0, 1}};
    const Cover cover = choose_cover(table, {});
    CHECK(cover.chosen == std::vector<std::size_t>{1});
    CHECK(cover.mean == 1);
    CHECK(cover.worst == 1);
}

TEST_CASE("where few rows can't keep to the limits, the cover has the best rows of the allowed number") {
    const WorthTable table{{1, 0.5, 0.5, 0.5}, {0.5, 1, 0.5, 0.5}, {0.5, 0.5, 1, 0.9}, {0.5, 0.5, 0.9, 1}};
    const Cover cover = choose_cover(table, {.most = 2, .least_mean = 0.99, .least_worst = 0.9});
    REQUIRE(cover.chosen.size() == 2);
    CHECK((std::ranges::count(cover.chosen, 2U) + std::ranges::count(cover.chosen, 3U)) == 1);
    CHECK(cover.worst == 0.5);
    CHECK(choose_cover({}, {}).chosen.empty());
}
