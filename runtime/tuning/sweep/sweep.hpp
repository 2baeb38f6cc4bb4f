#pragma once

#include "runtime/tuning/sweep/problem_tuner.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm::tuning {

struct SweepOptions {
    StrategyKind strategy = StrategyKind::model;
    SearchLimits limits;
    Selection selection;  ///< family, parameters
    TuneTiming timing;
    /// Kernels to try for a spec in place of a strategy's: known winners that are measured again.
    std::vector<std::pair<GemmSpec, std::string>> only;
    double budget_seconds = 0;     ///< for all problems together; 0: no limit
    bool resume_finished = false;  ///< a finished sweep of the same request is reported in place of a new one
    bool restart = false;          ///< an unfinished sweep is left alone
};

/// The progress of a sweep.
struct SweepProgress {
    std::size_t problem = 0;  ///< index among the requested problems: the oldest in flight
    std::size_t problems_done = 0;
    std::size_t problems = 0;
    int trials = 0;  ///< of this problem so far: proposed,
    int verified = 0;
    int timed = 0;
    int waiting_compiles = 0;
    double best_us = 0;  ///< 0: none yet
    std::string best_kernel;
    double elapsed_seconds = 0;
    std::optional<double> remaining_seconds;  ///< estimate, from the finished problems
};

/// The result of one problem.
struct TunedProblem {
    std::size_t index = 0;  ///< among the requested problems
    ProblemRecord record;
    std::string device_class;
    Stop stop = Stop::none;
    bool wanted_memory = false;  ///< some candidates found no memory: the resumed sweep goes on with them
    bool unserved = false;       ///< no kernel serves the problem
    std::string failure;         ///< why there is no winner: no kernel serves it, no candidate was right ...
    int new_samples = 0;         ///< measured now, not in an earlier session
    double seconds = 0;          ///< from its beginning to its end, in parallel with others
};

struct SweepResult {
    std::vector<TunedProblem> problems;  ///< as requested; once for each class of devices
    Stop stop = Stop::none;
    bool resumed = false;       ///< an unfinished sweep was resumed
    bool was_finished = false;  ///< nothing was measured: an earlier sweep had everything
    double seconds = 0;
    double measuring_seconds = 0;  ///< time in which a device verified or timed (SharedDevice), summed over devices
};

/// Tunes problems on devices, kProblemsInFlight at once on each, with a thread per problem. The next problem goes to a
/// device of the class that has room. Devices of different classes each tune all problems. Every measurement goes to
/// the store at once, and a sweep with the same request as an earlier one continues it.
class Sweep {
public:
    struct Services {
        CompileService& compiling;
        std::vector<std::unique_ptr<MeasureService>>& devices;
        TuningStore& store;  ///< a lock file beside it keeps two processes from continuing one sweep
        std::function<bool()> interrupted;
        std::function<void(const SweepProgress&)> on_progress = {};  ///< from any thread, one call at a time
        std::function<void(const TunedProblem&)> on_problem = {};    ///< the same
    };

    Sweep(std::vector<TuneProblem> problems, SweepOptions options, Services services);

    /// Throws TuningStoreError. Every other error is a problem's failure. Errors of a device thread are rethrown when
    /// all have ended.
    [[nodiscard]] SweepResult run();

private:
    std::vector<TuneProblem> problems_;
    SweepOptions options_;
    Services services_;
};

/// The canonical text of a request: the same text means the same sweep.
[[nodiscard]] std::string sweep_request(const std::vector<TuneProblem>& problems, const SweepOptions& options);

}  // namespace jitgemm::tuning
