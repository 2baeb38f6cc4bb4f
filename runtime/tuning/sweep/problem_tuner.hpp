#pragma once

#include "runtime/tuning/search/search.hpp"
#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/sweep/shared_device.hpp"
#include "runtime/tuning/sweep/trial_log.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// A problem to tune: a resolved spec and the scalars of its launches.
struct TuneProblem {
    GemmSpec spec;
    float alpha = 1.0F;
    float beta = 0.0F;
    GroupSizes group_sizes = GroupSizes::uniform;  ///< of the launches that are timed
    std::uint64_t seed = 7;                        ///< of these sizes and of all inputs
};

/// The way in which candidates are timed.
struct TuneTiming {
    Protocol protocol = Protocol::steady;
    bool hot = false;
    bool against_cublaslt = true;
};

/// Why a search should end early.
enum class Stop : std::uint8_t { none, budget, interrupted };

/// The search for one problem on one device: propose, compile, verify and time, until the strategy proposes nothing
/// more and the finalists have all their rounds.
class ProblemTuner {
public:
    struct Services {
        CompileService& compiling;
        SharedDevice& device;
        std::function<Stop()> stop;  ///< asked between two steps, and between two turns of a round
        std::function<void(const TrialLog&)> on_progress;  ///< after every step
    };

    ProblemTuner(const TuneProblem& problem, const SearchSpace& space, const Strategy& strategy,
                 const TuneTiming& timing, TrialLog& log, Services services);

    /// Everything is in the log and on disk. Returns the reason of the end.
    Stop run();

    /// The current winner; nothing if no candidate was timed.
    [[nodiscard]] std::optional<Winner> winner(bool complete) const;

private:
    void propose(const std::vector<std::string>& batch);
    void verify_all(const std::vector<std::string>& kernels);
    [[nodiscard]] std::shared_future<CompileOutcome> compiled(const std::string& kernel);
    [[nodiscard]] bool wait_for_compile(const std::string& kernel);
    [[nodiscard]] bool is_compiled(const std::string& kernel, std::chrono::milliseconds patience);
    void settle_code(const std::string& kernel);
    [[nodiscard]] std::size_t verify_compiled(const std::vector<std::string>& batch, std::size_t next,
                                              MeasureService& device);
    void verify(const std::string& kernel, MeasureService& device);
    [[nodiscard]] bool deserves_another_try(const std::string& kernel, Verdict verdict);
    void time_rounds(bool screening_only);
    void time_plan(const RoundPlan& plan);
    void time_sustained();
    void complete_peer();
    void time_once(const TimeJob& job);
    [[nodiscard]] TimeJob time_job(const std::vector<std::string>& kernels, int rounds, bool sustained) const;
    void lead_with_heuristic(std::vector<std::string>& batch) const;
    [[nodiscard]] std::vector<std::string> with_reference(std::vector<std::string> kernels) const;
    [[nodiscard]] Interval winning_time(const Trial& winner, double reference_us) const;
    [[nodiscard]] double reference_us_beside(const Trial& winner) const;
    [[nodiscard]] double cublaslt_us(double reference_us) const;
    void take_both_protocols(Winner& winner) const;
    [[nodiscard]] int lacks(const std::string& kernel, const RoundPlan& plan) const;
    [[nodiscard]] const Trial& trial_of(const std::string& kernel) const;
    [[nodiscard]] double median_us(const std::string& kernel) const;
    [[nodiscard]] bool stopped();
    bool lend(const std::function<void(MeasureService&)>& use);

    const TuneProblem& problem_;
    const SearchSpace& space_;
    const Strategy& strategy_;
    const TuneTiming& timing_;
    TrialLog& log_;
    Services services_;
    Reference reference_;
    std::map<std::string, double> predicted_us_;
    std::set<std::string> wanted_memory_;  ///< kernels that were tried again because memory was short
    Stop stop_ = Stop::none;
};

}  // namespace jitgemm::tuning
