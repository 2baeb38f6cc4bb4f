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
    /// Kernels to try for a spec in place of a strategy's: known winners that are to be measured again.
    std::vector<std::pair<GemmSpec, std::string>> only;
    double budget_seconds = 0;     ///< for all problems together; 0: none
    bool resume_finished = false;  ///< a finished sweep that was asked the same is reported in place of a new one
    bool restart = false;          ///< an unfinished one is left alone
};

/// Where a sweep stands, for those who watch.
struct SweepProgress {
    std::size_t problem = 0;  ///< index into the problems asked: the oldest in flight
    std::size_t problems_done = 0;
    std::size_t problems = 0;
    int trials = 0;  ///< of this problem so far: proposed,
    int verified = 0;
    int timed = 0;
    int waiting_compiles = 0;
    double best_us = 0;  ///< 0: none yet
    std::string best_kernel;
    double elapsed_seconds = 0;
    std::optional<double> remaining_seconds;  ///< estimate, from the problems done
};

/// What became of one problem.
struct TunedProblem {
    std::size_t index = 0;  ///< among the problems asked
    ProblemRecord record;
    std::string device_class;
    Stop stop = Stop::none;
    bool wanted_memory = false;  ///< some candidates found none: the same sweep goes on with them
    bool unserved = false;       ///< no kernel serves the problem
    std::string failure;         ///< why there is no winner: that, or that no candidate was right ...
    int new_samples = 0;         ///< measured now, not taken over from an earlier session
    double seconds = 0;          ///< from its beginning to its end, beside others
};

struct SweepResult {
    std::vector<TunedProblem> problems;  ///< as asked; once for each class of devices
    Stop stop = Stop::none;
    bool resumed = false;       ///< an unfinished sweep went on
    bool was_finished = false;  ///< nothing was measured: an earlier sweep had all of it
    double seconds = 0;
    double measuring_seconds = 0;  ///< of it, some device verified or timed (SharedDevice); summed over devices
};

/// Tunes problems on devices, kProblemsInFlight at once on each, a thread per problem; the next one goes to whichever
/// device of a class has room. Devices of different classes tune all problems each. Every measurement is on its way to
/// the store as soon as it is made, and a sweep that was asked the same before goes on where it was.
class Sweep {
public:
    struct Services {
        CompileService& compiling;
        std::vector<std::unique_ptr<MeasureService>>& devices;
        TuningStore& store;  ///< a lock file beside it keeps two processes from going on with one sweep
        std::function<bool()> interrupted;
        std::function<void(const SweepProgress&)> on_progress = {};  ///< any thread, one at a time
        std::function<void(const TunedProblem&)> on_problem = {};    ///< the same
    };

    Sweep(std::vector<TuneProblem> problems, SweepOptions options, Services services);

    /// Throws TuningStoreError; whatever else goes wrong is a problem's failure. Errors of a device thread are rethrown
    /// when all have ended.
    [[nodiscard]] SweepResult run();

private:
    std::vector<TuneProblem> problems_;
    SweepOptions options_;
    Services services_;
};

/// The canonical text of what a sweep is asked: the same text, the same sweep.
[[nodiscard]] std::string sweep_request(const std::vector<TuneProblem>& problems, const SweepOptions& options);

}  // namespace jitgemm::tuning
