#pragma once

#include "generator/kernel_cover.hpp"
#include "generator/kernel_set.hpp"
#include "generator/kernel_set_rows.hpp"
#include "generator/kernel_set_times.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// The problem and the options of a kernel set.
struct KernelSetRequest {
    GemmSpec spec;  ///< its m is 0
    std::int64_t first_m = 1;
    std::int64_t last_m = 1;
    const GpuModel& gpu;
    const Selection& selection;
    const KernelSetOptions& options;
    std::vector<RowClass> classes;
};

/// Whether the kernel computes this problem as a caller asks for it.
[[nodiscard]] bool is_valid(const SetKernel& kernel, const Problem& problem, const Arch& arch);

/// The candidates of a problem that may serve other values of m, too: near the fastest, and without stream-K where
/// there are any.
[[nodiscard]] std::vector<Candidate> near_steady_candidates(const Problem& problem, const GpuModel& gpu,
                                                            const Selection& selection);

/// The problems of one m, by a kernel's alignments: those that this m has.
class ProblemsOfRow {
public:
    ProblemsOfRow(const std::vector<SetKernel>& kernels, const GemmSpec& aligned, std::int64_t m);
    /// Null where m gives less alignment than the kernel needs, or makes another problem of it.
    [[nodiscard]] const Problem* of(const SetKernel& kernel) const;

private:
    std::vector<std::pair<GemmSpec, Problem>> problems_;
};

/// A value of m that candidates are compared at.
struct RowSample {
    std::int64_t m = 1;
    GemmSpec aligned;     ///< aligned_at(m)
    KernelConfig choice;  ///< the heuristic's
    double best_us = 0;   ///< the choice's time, or that of a faster kernel of the pool
};

/// The candidates that are near the best at some sample, and their times at all samples.
class KernelPool {
public:
    explicit KernelPool(const KernelSetRequest& request);

    /// The kernels of the cover: for each sample the best that has one of the chosen bodies.
    [[nodiscard]] std::vector<SetKernel> cover(const CoverLimits& limits) const;

    [[nodiscard]] const std::vector<RowSample>& samples() const { return samples_; }
    /// Corrected by what was measured.
    [[nodiscard]] double time_us(const Problem& problem, std::int64_t m, const KernelConfig& config) const;

private:
    void add_sample(std::int64_t m);
    void add_measured(const KernelTime& time);
    void ask_for_better(const Problem& problem, const RowSample& sample, const Candidate& best);
    void add(const GemmSpec& aligned, const Problem& problem, const KernelConfig& config);
    void compare_at(std::size_t sample);
    [[nodiscard]] std::vector<double> times_at(const ProblemsOfRow& problems, std::int64_t m) const;

    const KernelSetRequest& request_;
    std::vector<RowSample> samples_;
    std::vector<SetKernel> kernels_;
    std::map<std::string, std::size_t> bodies_;   ///< numbers of bodies by what their names have in common
    std::map<std::string, std::size_t> by_name_;  ///< places in kernels_
    MeasuredFactors measured_;
    WorthTable worth_;                            ///< of bodies
    std::vector<std::vector<std::size_t>> best_;  ///< by body and sample, the place of its best kernel
};

}  // namespace jitgemm
