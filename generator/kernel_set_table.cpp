#include "generator/kernel_set_table.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace jitgemm {
namespace {

constexpr double kStep = 1.02;   // between the values of m looked at from kSteadyRows on
constexpr int kMostRounds = 16;  // of ranges, after kernels were added
constexpr auto kUnused = static_cast<std::size_t>(-1);

std::int64_t next_row(const RowClass& rows, std::int64_t m, std::int64_t last) {
    if (m < kSteadyRows) return rows.at_or_after(m + 1);
    const auto step = static_cast<std::int64_t>(static_cast<double>(m) * kStep);
    return std::min(last, rows.at_or_after(std::max(step, m + 1)));
}

/// The set has the kernels that ranges name, in the order of their first m.
void write_used(KernelSet& set, const std::vector<SetKernel>& kernels) {
    std::vector<std::size_t> places(kernels.size(), kUnused);
    std::vector<std::size_t> bodies;
    std::vector<KernelRange> by_m = set.ranges;
    std::ranges::sort(by_m, {}, [](const KernelRange& range) { return std::pair(range.first_m, -range.multiple); });
    for (const KernelRange& range : by_m) {
        if (places[range.kernel] != kUnused) continue;
        places[range.kernel] = set.kernels.size();
        SetKernel& used = set.kernels.emplace_back(kernels[range.kernel]);
        const auto body = std::ranges::find(bodies, used.body);
        if (body == bodies.end()) bodies.push_back(used.body);
        used.body = static_cast<std::size_t>(std::ranges::find(bodies, used.body) - bodies.begin());
    }
    for (KernelRange& range : set.ranges) range.kernel = places[range.kernel];
}

}  // namespace

bool is_steady(const SetKernel& kernel, const Problem& problem) {
    const KernelAnatomy anatomy = family_of(kernel.id.config).anatomy(problem, kernel.id.config);
    return anatomy.stream_k_blocks == 0 && anatomy.blocks_per_wave == 0 && !anatomy.needs_whole_tiles;
}

KernelTable::KernelTable(const KernelSetRequest& request, const KernelPool& pool, std::vector<SetKernel> kernels)
    : request_(request), pool_(pool), kernels_(std::move(kernels)) {}

void KernelTable::write(KernelSet& set) {
    for (int round = 0; round < kMostRounds; ++round) {
        const std::size_t before = kernels_.size();
        set.ranges = ranges();
        if (kernels_.size() == before) break;  // none was added: all ranges know all kernels
    }
    write_used(set, kernels_);
}

std::vector<KernelRange> KernelTable::ranges() {
    std::vector<KernelRange> ranges;
    for (const RowClass& rows : request_.classes) add_ranges(ranges, rows);
    return ranges;
}

void KernelTable::add_ranges(std::vector<KernelRange>& ranges, const RowClass& rows) {
    const std::int64_t first = rows.at_or_after(request_.first_m);
    const std::int64_t last = rows.at_or_before(request_.last_m);
    if (first > last) return;
    KernelRange range{first, first, rows.multiple, server(first, std::nullopt)};
    for (std::int64_t m = first; m < last;) {
        const std::int64_t next = next_row(rows, m, last);
        const std::size_t kernel = server(next, range.kernel);
        range.last_m = kernel == range.kernel ? next : last_served_by(range.kernel, rows, m, next);
        if (kernel != range.kernel) {
            ranges.push_back(range);
            const std::int64_t begin = rows.at_or_after(range.last_m + 1);
            range = {begin, begin, rows.multiple, server(begin, kernel)};
        }
        m = range.last_m;
    }
    ranges.push_back(range);
}

/// The kernel that serves m: the one that served the value before where it is nearly as fast, else the fastest.
std::size_t KernelTable::server(std::int64_t m, std::optional<std::size_t> before) {
    const GemmSpec aligned = aligned_at(request_.spec, m);
    const ProblemsOfRow problems(kernels_, aligned, m);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < kernels_.size(); ++i)
        if (const Problem* const problem = problems.of(kernels_[i]))
            order.emplace_back(pool_.time_us(*problem, m, kernels_[i].id.config), i);
    std::ranges::sort(order);
    const auto is_server = [&](const std::pair<double, std::size_t>& one) {
        return serves(kernels_[one.second], *problems.of(kernels_[one.second]), m);
    };
    const auto best = std::ranges::find_if(order, is_server);
    if (best == order.end()) return repaired(aligned, m);
    const auto previous =
        std::ranges::find_if(best, order.end(), [&](const auto& one) { return one.second == before; });
    const bool goes_on = previous != order.end() && is_server(*previous) &&
                         previous->first <= best->first * request_.options.range_slack;
    return goes_on ? previous->second : best->second;
}

bool KernelTable::serves(const SetKernel& kernel, const Problem& problem, std::int64_t m) const {
    return is_valid(kernel, problem, *request_.gpu.arch) && (m <= kSteadyRows || is_steady(kernel, problem));
}

std::size_t KernelTable::repaired(const GemmSpec& aligned, std::int64_t m) {
    const Problem problem = problem_at(aligned, m);
    const double slack = m <= kSteadyRows ? 1 : std::numeric_limits<double>::infinity();
    for (const Candidate& one : near_candidates(problem, request_.gpu, request_.selection, slack)) {
        const SetKernel kernel{{problem.signature, one.config}, aligned, kUnused - kernels_.size()};
        if (!serves(kernel, problem, m)) continue;
        kernels_.push_back(kernel);
        return kernels_.size() - 1;
    }
    throw ConfigError("no kernel set", {fmt::format("m={}: no kernel serves this value and its neighbors", m)});
}

/// Between two values, the last that is served by the kernel of the first.
std::int64_t KernelTable::last_served_by(std::size_t kernel, const RowClass& rows, std::int64_t low,
                                         std::int64_t high) {
    while (true) {
        const std::int64_t middle = rows.at_or_after(low + (high - low) / 2);
        if (middle <= low || middle >= high) return low;
        (server(middle, kernel) == kernel ? low : high) = middle;
    }
}

}  // namespace jitgemm
