#include "generator/kernel_set.hpp"

#include "generator/kernel_cover.hpp"
#include "generator/kernel_set_pool.hpp"
#include "generator/kernel_set_rows.hpp"
#include "generator/kernel_set_table.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kDenseRows = 64;   // each of these is a sample
constexpr std::int64_t kFineRows = 8192;  // from here on, steps are longer
constexpr double kFineStep = 1.08;        // between larger samples
constexpr double kLongStep = 1.3;
constexpr std::int64_t kTileRows = 64;  // its multiples are edges of most tiles
constexpr double kMargin = 0.25;        // the part of range_slack by which the cover must be better than asked for

void check_range(std::int64_t first_m, std::int64_t last_m) {
    if (first_m >= 1 && first_m <= last_m && last_m <= kLargestExtent) return;
    throw SpecError("invalid range of m",
                    {fmt::format("m={}:{}: the first must be at least 1, and the last from the first to {}", first_m,
                                 last_m, kLargestExtent)});
}

/// An edge of tiles, and a value between it and the next.
void add_step(std::vector<std::int64_t>& rows, std::int64_t m) {
    const std::int64_t edge = std::max(kTileRows, m / kTileRows * kTileRows);
    rows.push_back(edge);
    rows.push_back(edge + (m / 8 * 5 + 13) % (kTileRows - 1) + 1);
}

void add_ratios(KernelSet& set, const KernelPool& pool) {
    WorthTable worth(1);
    for (const RowSample& sample : pool.samples()) {
        const KernelConfig& config = set.kernels[set.range_of(sample.m).kernel].id.config;
        worth[0].push_back(std::min(1.0, sample.best_us / pool.time_us(set.problem(sample.m), sample.m, config)));
    }
    const Cover served = evaluate_cover(worth, {0});
    set.mean_ratio = served.mean;
    set.worst_ratio = served.worst;
    set.worst_m = pool.samples()[served.worst_sample].m;
}

}  // namespace

std::vector<std::int64_t> sampled_rows(std::int64_t first_m, std::int64_t last_m) {
    check_range(first_m, last_m);
    std::vector<std::int64_t> rows{first_m, last_m};
    for (std::int64_t m = 1; m <= kDenseRows; ++m) rows.push_back(m);
    for (std::int64_t m = kDenseRows; m <= last_m;) {
        add_step(rows, m);
        m = static_cast<std::int64_t>(static_cast<double>(m) * (m < kFineRows ? kFineStep : kLongStep));
    }
    std::erase_if(rows, [&](std::int64_t m) { return m < first_m || m > last_m; });
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

std::size_t KernelSet::body_count() const {
    std::size_t count = 0;
    for (const SetKernel& kernel : kernels) count = std::max(count, kernel.body + 1);
    return count;
}

const KernelRange* KernelSet::find(std::int64_t m) const {
    if (m < first_m || m > last_m) return nullptr;
    const auto of_class = std::ranges::find_if(ranges, [&](const KernelRange& one) { return m % one.multiple == 0; });
    const auto end = std::ranges::find_if(of_class, ranges.end(),
                                          [&](const KernelRange& one) { return one.multiple != of_class->multiple; });
    const auto found = std::ranges::lower_bound(of_class, end, m, {}, &KernelRange::last_m);
    return found == end || m < found->first_m ? nullptr : &*found;
}

const KernelRange& KernelSet::range_of(std::int64_t m) const {
    if (const KernelRange* const found = find(m)) return *found;
    throw SpecError("no kernel of this set", {fmt::format("m is {}: the set serves {} to {}", m, first_m, last_m)});
}

Problem KernelSet::problem(std::int64_t m) const { return problem_at(kernels[range_of(m).kernel].spec, m); }

KernelSet build_kernel_set(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m, const GpuModel& gpu,
                           const Selection& selection, const KernelSetOptions& options) {
    check_range(first_m, last_m);
    static_cast<void>(problem_at(spec, first_m));  // throws what is wrong with the spec
    static_cast<void>(problem_at(spec, last_m));
    KernelSetRequest request{spec, first_m, last_m, gpu, selection, options, row_classes(spec, first_m, last_m)};
    request.spec.m = 0;
    const KernelPool pool(request);
    const double margin = (options.range_slack - 1) * kMargin;
    KernelTable table(request, pool,
                      pool.cover({options.most_bodies, std::min(1.0, options.least_mean + margin),
                                  std::min(1.0, options.least_worst * options.range_slack)}));
    KernelSet set;
    set.spec = request.spec;
    set.first_m = first_m;
    set.last_m = last_m;
    set.gpu = gpu.name;
    table.write(set);
    add_ratios(set, pool);
    return set;
}

}  // namespace jitgemm
