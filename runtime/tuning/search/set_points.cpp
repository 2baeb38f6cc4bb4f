#include "runtime/tuning/search/set_points.hpp"

#include "generator/kernel_set_pool.hpp"
#include "generator/kernel_set_rows.hpp"
#include "runtime/tuning/search/search.hpp"
#include "runtime/tuning/search/services.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kMostPoints = 40;
constexpr std::size_t kMostNearOfPoint = 8;

/// The first m of the range, and values between, in equal steps of their logarithm.
void add_rows(std::vector<std::int64_t>& rows, const KernelRange& range) {
    const double length = static_cast<double>(range.last_m) / static_cast<double>(range.first_m);
    const int steps = std::max(2, static_cast<int>(std::ceil(std::log2(length))));
    for (int i = 0; i < steps; ++i) {
        const double m = static_cast<double>(range.first_m) * std::pow(length, static_cast<double>(i) / steps);
        rows.push_back(std::max(range.first_m, static_cast<std::int64_t>(m) / range.multiple * range.multiple));
    }
}

/// A measurement speaks for values of m near it, so all ranges together have one in each octave.
std::vector<std::int64_t> rows_of_ranges(const KernelSet& set) {
    std::vector<std::int64_t> rows{set.first_m, set.last_m};
    for (const KernelRange& range : set.ranges) add_rows(rows, range);
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
}

/// Evenly, with both ends.
std::vector<std::int64_t> thinned(const std::vector<std::int64_t>& rows, std::size_t most) {
    if (rows.size() <= most) return rows;
    std::vector<std::int64_t> left;
    for (std::size_t i = 0; i < most; ++i) left.push_back(rows[i * (rows.size() - 1) / (most - 1)]);
    return left;
}

void add_once(std::vector<std::string>& kernels, const std::string& kernel) {
    if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(kernel);
}

SetPoint point_at(std::int64_t m, const KernelSet& set, const GpuModel& gpu, const Selection& selection) {
    const GemmSpec aligned = aligned_at(set.spec, m);
    const Problem problem = problem_at(aligned, m);
    SetPoint point{m, problem.asked, {}};
    for (const SetKernel& kernel : set.kernels) {
        const SetKernel here{{problem.signature, kernel.id.config}, aligned};
        if (is_valid(here, problem, *gpu.arch)) add_once(point.kernels, kernel_name(here.id));
    }
    std::vector<Candidate> near = near_steady_candidates(problem, gpu, selection);
    if (near.size() > kMostNearOfPoint) near.resize(kMostNearOfPoint);
    for (const Candidate& one : near) add_once(point.kernels, kernel_name(problem, one.config));
    return point;
}

/// Whether the fault lies in the kernel, and not in the machine or in the size.
bool is_kernels_fault(Verdict verdict) {
    return verdict == Verdict::compile_failed || verdict == Verdict::wrong || verdict == Verdict::crashed ||
           verdict == Verdict::hung;
}

/// In rounds in which the heuristic's kernel takes the same time. Nothing if it was not timed.
std::optional<double> time_of(const std::vector<Trial>& trials, const std::string& kernel, double reference) {
    const Trial* const trial = find_measured(trials, kernel);
    if (trial == nullptr) return std::nullopt;
    if (is_kernels_fault(trial->verdict())) return std::numeric_limits<double>::infinity();
    if (trial->samples.empty()) return std::nullopt;
    return median_interval(comparable_times(*trial, reference)).median;
}

}  // namespace

std::vector<SetPoint> set_points(const KernelSet& predicted, const GpuModel& gpu, const Selection& selection) {
    std::vector<SetPoint> points;
    for (const std::int64_t m : thinned(rows_of_ranges(predicted), kMostPoints))
        points.push_back(point_at(m, predicted, gpu, selection));
    return points;
}

std::vector<KernelTime> set_times(const std::vector<SetPoint>& points, const std::vector<ProblemRecord>& records) {
    std::vector<KernelTime> times;
    for (const SetPoint& point : points) {
        const auto record = std::ranges::find(records, point.spec, &ProblemRecord::spec);
        if (record == records.end()) continue;
        const std::string heuristic = record->winner ? record->winner->heuristic_kernel : std::string();
        const double reference = reference_us(record->trials, heuristic);
        for (const std::string& kernel : point.kernels)
            if (const std::optional<double> us = time_of(record->trials, kernel, reference))
                times.push_back({point.m, parse_kernel_name(kernel).config, *us});
    }
    return times;
}

}  // namespace jitgemm::tuning
