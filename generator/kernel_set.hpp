#pragma once

#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/kernel_range.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A kernel of a set. `spec` is the request with this kernel's alignments. Its m is 0.
struct SetKernel {
    KernelId id;
    GemmSpec spec;
    /// Kernels with equal numbers have one text, which is compiled once. They differ in how many blocks a launch has.
    std::size_t body = 0;
    friend bool operator==(const SetKernel&, const SetKernel&) = default;
};

/// A few kernels that serve one problem for all values of m in a range. A value: printable, stored as JSON, compared.
struct KernelSet {
    GemmSpec spec;  ///< the request; its m is 0
    std::int64_t first_m = 1;
    std::int64_t last_m = 1;
    std::string gpu;
    std::vector<SetKernel> kernels;   ///< in the order in which ranges first name them
    std::vector<KernelRange> ranges;  ///< by multiple, the largest first; then by m, without gaps
    double mean_ratio = 1;            ///< best time over served time at the sampled m, as predicted: geometric mean
    double worst_ratio = 1;           ///< the least of these
    std::int64_t worst_m = 1;         ///< where that is

    [[nodiscard]] std::size_t body_count() const;  ///< kernels to compile
    /// The range that serves m; null where none does.
    [[nodiscard]] const KernelRange* find(std::int64_t m) const;
    /// The same. Throws SpecError, which names m and the range, where none does.
    [[nodiscard]] const KernelRange& range_of(std::int64_t m) const;
    /// The problem of m as its kernel serves it.
    [[nodiscard]] Problem problem(std::int64_t m) const;
    friend bool operator==(const KernelSet&, const KernelSet&) = default;
};

/// A measured time of one config at one m. Infinity: the config failed there, and no set has it.
struct KernelTime {
    std::int64_t m = 1;
    KernelConfig config;
    double us = 0;
};

/// A choice that a measurement found better than the heuristic's, and how many times as fast it is.
struct BetterChoice {
    KernelConfig config;
    double gain = 1;
};

struct KernelSetOptions {
    std::size_t most_bodies = 10;  ///< kernels to compile
    double least_mean = 0.985;     ///< of best time over served time: geometric mean over the sampled m
    double least_worst = 0.90;     ///< and at any of these
    /// A range goes on while its kernel takes at most this many times the time of the set's best kernel.
    double range_slack = 1.01;
    /// Asked at every sampled m with the heuristic's choice. Unset: predictions alone count.
    std::function<std::optional<BetterChoice>(const Problem&, const KernelConfig& heuristic)> better = {};
    std::vector<KernelTime> times = {};      ///< measured times of configs, which correct the predictions near their m
    std::vector<std::int64_t> samples = {};  ///< further values of m to look at
};

/// The fewest bodies found that serve the spec for each m from `first_m` to `last_m` within the limits of `options`.
/// With batch_invariant all kernels add up in one order, so the bits do not depend on the kernel. Throws SpecError for
/// a wrong range, and what problem_of() and choose_config() throw.
[[nodiscard]] KernelSet build_kernel_set(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m,
                                         const GpuModel& gpu, const Selection& selection = {},
                                         const KernelSetOptions& options = {});

/// The values of m that build_kernel_set() compares candidates at: all small ones, then tile edges and values between.
[[nodiscard]] std::vector<std::int64_t> sampled_rows(std::int64_t first_m, std::int64_t last_m);

/// One JSON document, which parse_kernel_set() reads back.
[[nodiscard]] std::string to_json(const KernelSet& set);
/// Throws SpecError if the text is no kernel set. The message names the wrong part.
[[nodiscard]] KernelSet parse_kernel_set(std::string_view json);

/// A table for people: kernels, ranges, ratios.
[[nodiscard]] std::string to_string(const KernelSet& set);

}  // namespace jitgemm
