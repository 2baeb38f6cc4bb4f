#include "runtime/verify/group_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace jitgemm {
namespace {

/// From 0 to below 1, the same with every standard library.
double share(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

std::vector<double> shares(std::size_t groups, GroupSizes sizes, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> list(groups, 1.0);
    if (sizes == GroupSizes::random)
        for (double& one : list) one = random() % 3 == 0 ? 0.0 : share(random);
    if (sizes == GroupSizes::skewed) {
        for (std::size_t i = 0; i < groups; ++i) list[i] = 1.0 / static_cast<double>(i + 1);
        for (std::size_t i = groups; i > 1; --i) std::swap(list[i - 1], list[random() % i]);
    }
    return list;
}

}  // namespace

std::vector<std::int32_t> group_ends(std::int64_t groups, std::int64_t rows, GroupSizes sizes, std::uint64_t seed) {
    const std::vector<double> list = shares(static_cast<std::size_t>(groups), sizes, seed);
    const double all = std::accumulate(list.begin(), list.end(), 0.0);
    std::vector<std::int32_t> ends;
    double sum = 0;
    for (const double one : list) {
        sum += one;
        ends.push_back(static_cast<std::int32_t>(all == 0 ? 0 : std::floor(sum * static_cast<double>(rows) / all)));
    }
    if (!ends.empty()) ends.back() = static_cast<std::int32_t>(rows);  // however sums were rounded
    return ends;
}

std::vector<std::int32_t> group_offsets(const GemmSpec& spec, std::int64_t rows, GroupSizes sizes, std::uint64_t seed) {
    std::vector<std::int32_t> list = group_ends(spec.groups, rows, sizes, seed);
    if (spec.group_rows == 0) return list;
    for (std::size_t i = list.size(); i-- > 1;) list[i] -= list[i - 1];
    for (std::int32_t& count : list) count = static_cast<std::int32_t>(std::min<std::int64_t>(count, spec.group_rows));
    return list;
}

std::vector<std::int32_t> row_index(const GemmSpec& spec, std::uint64_t seed, bool zeros) {
    constexpr std::int64_t kOneOf = 8;  // rows of D is zeros
    constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
    const std::array<std::int64_t, 4> outside{-1, spec.source_rows, -kMost, kMost};
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() >> 1) % end; };
    std::vector<std::int32_t> list(static_cast<std::size_t>(spec.m));
    for (std::int32_t& row : list)
        row = static_cast<std::int32_t>(zeros && below(kOneOf) == 0 ? outside.at(static_cast<std::size_t>(below(4)))
                                                                    : below(spec.source_rows));
    return list;
}

GroupRows rows_of_group(const std::vector<std::int32_t>& offsets, const GemmSpec& spec, std::int64_t group) {
    const auto place = static_cast<std::size_t>(group);
    if (spec.group_rows != 0) return {group * spec.group_rows, offsets[place]};
    const std::int64_t first = group == 0 ? 0 : offsets[place - 1];
    return {first, offsets[place] - first};
}

std::string offsets_problem(const std::vector<std::int32_t>& offsets, const GemmSpec& spec) {
    std::int32_t before = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        const std::int32_t one = offsets[i];
        if (spec.group_rows != 0 && (one < 0 || one > spec.group_rows))
            return fmt::format("offsets[{}] is {}, but each group has room for {} rows", i, one, spec.group_rows);
        if (spec.group_rows != 0) continue;
        if (one < before)
            return fmt::format("offsets[{}] is {}, but the previous group ends at {}: ends must not fall", i, one,
                               before);
        if (is_grouped_by_k(spec) && one > spec.k)
            return fmt::format("offsets[{}] is {}, but K is {}: no group may end behind it", i, one, spec.k);
        if (is_grouped(spec) && one > spec.m)
            return fmt::format("offsets[{}] is {}, but {} has {} rows: no group may end behind them", i, one,
                               is_gathered(spec) ? 'D' : 'A', spec.m);
        before = one;
    }
    return {};
}

}  // namespace jitgemm
