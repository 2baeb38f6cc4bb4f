#pragma once

#include "runtime/cli/output.hpp"
#include "runtime/cli/tune/options.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/sweep/sweep.hpp"
#include "runtime/tuning/sweep/worker_set.hpp"

#include <memory>
#include <string>
#include <vector>

/// \file A sweep as the tool runs it: for the verbs that measure.

namespace jitgemm::cli {

/// The worker processes. `local_rank` is this process's device if no option names one. Throws CudaError for no GPU.
[[nodiscard]] std::unique_ptr<tuning::WorkerSet> open_worker_set(const TuneOptions& options, int local_rank);

/// The folder of the store. Each part of a split sweep writes a store of its own; `tune merge` joins them. Throws Error
/// if no setting names a folder.
[[nodiscard]] std::string store_directory(const TuneOptions& options);

/// Throws UsageError where nothing serves any of the problems: the request is wrong then, not the result.
void refuse_empty_space(const tuning::SweepResult& result);

/// Runs a sweep and shows its progress.
[[nodiscard]] tuning::SweepResult watched_sweep(const std::vector<tuning::TuneProblem>& problems,
                                                const tuning::SweepOptions& asked, bool quiet,
                                                tuning::WorkerSet& worker_set, tuning::TuningStore& store,
                                                Output& output);

}  // namespace jitgemm::cli
