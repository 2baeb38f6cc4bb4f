#pragma once

#include "runtime/cli/problem_options.hpp"
#include "runtime/tuning/sweep/sweep.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// Part `index` of `count`: every count-th problem, beginning with number `index`.
struct Shard {
    int index = 0;
    int count = 1;
};

/// The options of `tune` as typed. The methods read them, and throw UsageError with value and rule.
struct TuneOptions {
    ProblemOptions problem;
    std::string shapes;
    std::string strategy = "model";
    std::string budget;
    std::string devices;
    std::string protocol = "steady";
    std::string group_sizes = "uniform";
    std::string shard;
    std::string report;
    std::string csv;
    std::string measurements;
    std::string worker;  ///< program of the worker processes, and the words before `worker`; empty: this program
    std::optional<int> max_candidates;
    std::optional<int> workers;
    int compile_timeout = 60;
    int watchdog = 30;
    bool resume = false;
    bool restart = false;
    bool refresh = false;
    bool fit = false;
    std::string gpu;  ///< the GPU whose measurements --fit takes; empty: this machine's
    bool quiet = false;
    bool no_cublaslt = false;

    void declare(CLI::App& app);
    /// The options that measuring for a kernel set has.
    void declare_for_set(CLI::App& app);

    [[nodiscard]] tuning::SweepOptions sweep() const;
    /// In the form of Options::device. `local_rank` is this process's device if no option names one.
    [[nodiscard]] std::vector<std::string> device_names(int local_rank) const;
    /// --shard, else the launcher's rank, else everything.
    [[nodiscard]] std::optional<Shard> which_shard() const;
    /// The problems of the shard, resolved, each once.
    [[nodiscard]] std::vector<tuning::TuneProblem> problems() const;
    [[nodiscard]] std::vector<std::string> worker_program() const;
    [[nodiscard]] bool csv_to_stdout() const { return csv == "-"; }
    void check() const;
};

}  // namespace jitgemm::cli
