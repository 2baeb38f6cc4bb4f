#pragma once

#include "runtime/support/file_lock.hpp"
#include "runtime/tuning/sweep/budget_clock.hpp"
#include "runtime/tuning/sweep/shared_device.hpp"
#include "runtime/tuning/sweep/sweep.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace jitgemm::tuning {

/// The state that all threads of a sweep share.
struct SharedSweep {
    using Clock = std::chrono::steady_clock;
    const std::vector<TuneProblem>& problems;
    const SweepOptions& options;
    const Sweep::Services& services;
    Clock::time_point start = Clock::now();
    std::mutex mutex{};               // guards the members below, and the callbacks
    std::condition_variable ended{};  // a problem has ended
    std::size_t asked = 0;            // number of problems, for all classes of devices
    std::size_t begun = 0;
    std::size_t done = 0;
    BudgetClock pace{static_cast<double>(services.devices.size())};  // the time that each problem in flight has had

    [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
};

/// The problems of a sweep on the devices of one class.
class ClassSweep {
public:
    using Clock = SharedSweep::Clock;

    ClassSweep(SharedSweep& shared, const std::vector<MeasureService*>& devices);

    /// Tunes one problem after another until there is none left. kProblemsInFlight threads per device run it.
    void work(SharedDevice& device);
    /// Called after all threads have ended.
    void finish();
    void add_to(SweepResult& all);
    [[nodiscard]] const std::vector<std::unique_ptr<SharedDevice>>& devices() const { return devices_; }

private:
    class Flight;
    /// A problem in flight, and the pace clock's time at the end of its share of the budget.
    struct Begun {
        std::size_t index = 0;
        double over = 0;
        bool again = false;  ///< its share had cut it short, and others have left some time
    };
    /// The start of a search for one problem.
    struct Prepared {
        SearchSpace space;
        std::unique_ptr<Strategy> strategy;
        std::string failure;  ///< why there is nothing to search
    };

    void begin();
    void begin_new(const SweepKey& key);
    [[nodiscard]] bool lock(std::int64_t id);
    [[nodiscard]] bool take_over(const SweepRow& row);
    void report_finished();
    [[nodiscard]] std::optional<Begun> next(SharedDevice& device);
    [[nodiscard]] bool has_time() const;
    [[nodiscard]] Begun begin_next(bool again);
    void end(SharedDevice& device, const Begun& problem);
    void keep(const Begun& problem, TunedProblem result);
    [[nodiscard]] TunedProblem so_far(const Begun& problem) const;
    [[nodiscard]] std::int64_t bytes_of(std::size_t index) const;
    [[nodiscard]] Prepared prepare(const TuneProblem& problem) const;
    [[nodiscard]] TunedProblem blank(std::size_t index) const;
    [[nodiscard]] std::optional<TunedProblem> unserved(std::size_t index, const std::string& why) const;
    [[nodiscard]] TunedProblem tune(SharedDevice& device, const Begun& begun);
    void search(SharedDevice& device, const Begun& begun, const Prepared& prepared, TunedProblem& result);
    [[nodiscard]] bool is_shown(std::size_t index) const;
    void show(std::size_t index, const TrialLog& log) const;
    [[nodiscard]] std::optional<double> remaining_seconds() const;
    [[nodiscard]] Stop stop_at(double over) const;
    [[nodiscard]] std::vector<Trial> earlier(const GemmSpec& spec) const;

    SharedSweep& shared_;
    std::vector<std::unique_ptr<SharedDevice>> devices_;
    std::int64_t id_ = 0;
    std::unique_ptr<FileLock> lock_;
    bool resumed_ = false;
    bool was_finished_ = false;
    std::vector<ProblemRecord> earlier_;
    std::vector<std::optional<TunedProblem>> results_;  // by index of the problem; guarded by the shared mutex, as are:
    std::size_t next_ = 0;
    std::deque<std::size_t> cut_;  // cut short by their share, and not yet reported
};

}  // namespace jitgemm::tuning
