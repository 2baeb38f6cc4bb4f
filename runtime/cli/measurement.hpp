#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/bench/benchmark.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/device/device_reading.hpp"
#include "runtime/verify/verify.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// --protocol, --rounds and --against, shared by run and bench.
struct MeasurementOptions {
    std::string protocol = "steady";
    std::string group_sizes = "uniform";
    int rounds = 15;
    std::vector<std::string> against;  ///< names of peers

    void declare(CLI::App& app);
    /// The options that were given: "--rounds".
    [[nodiscard]] std::vector<std::string> given() const;
    /// Throws UsageError for an unknown protocol or too few rounds.
    [[nodiscard]] TimingOptions timing(const ProblemRequest& request) const;

private:
    std::vector<const CLI::Option*> declared_;
};

/// The result of one peer on one problem.
struct PeerMeasurement {
    std::string name;
    std::string reason;                        ///< why a figure is missing; empty if none is
    std::optional<double> first_microseconds;  ///< its own first choice
    std::optional<double> microseconds;        ///< its best one with a right result
    std::string algorithm;                     ///< the algorithm of this figure
    std::string way;                           ///< and how it computes an epilogue's text
    std::optional<double> pass_microseconds;   ///< the best of a plain product with a pass behind it
};

/// One kernel on one problem: the verdict, its times and its peers'.
struct Measurement {
    Verification verification;
    Timing timing;  ///< all zero if nothing is launched (M or N is 0)
    std::vector<PeerMeasurement> peers;
    tuning::DeviceReading state;                           ///< read right after timing
    bool estimated = false;                                ///< the times are an emulator's
    std::optional<GroupSizes> group_sizes = std::nullopt;  ///< that were timed
};

/// Indices in rising order of median time.
[[nodiscard]] std::vector<std::size_t> fastest_first(std::span<const Timing> timings);

using Peers = std::vector<std::unique_ptr<Peer>>;
[[nodiscard]] Peers open_peers(const std::vector<std::string>& names, ContextState& context);

/// Verifies the kernel, times it and all peers in alternating rounds, and then verifies the algorithms behind the
/// peers' figures.
[[nodiscard]] Measurement measure(ContextState& context, const GemmKernel& kernel, const Peers& peers,
                                  const ProblemRequest& request, const TimingOptions& timing, Output& output);

}  // namespace jitgemm::cli
