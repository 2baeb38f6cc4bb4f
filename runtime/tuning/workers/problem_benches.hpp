#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/workers/exact_verifier.hpp"
#include "runtime/tuning/workers/timing_bench.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

namespace jitgemm::tuning {

/// About how much ProblemBenches holds of a problem.
[[nodiscard]] std::int64_t bench_bytes(const GemmSpec& resolved_spec, const GpuModel& gpu);

/// What a GPU holds of the problems in flight (kProblemsInFlight): operands to verify with and a D found right,
/// operands and graphs to time with. It stays from job to job, so that turning to another problem and back costs
/// nothing. The problem that was left alone for longest makes way for a new one, and for memory: at least half of what
/// was free at first stays free, but for what the problem at hand needs.
class ProblemBenches {
public:
    explicit ProblemBenches(ContextState& context);

    /// Made on first use; throw CudaError where the operands do not fit.
    [[nodiscard]] ExactVerifier& verifier(const VerifyJob& job);
    [[nodiscard]] TimingBench& timing(const TimeJob& job);
    /// Whether others hold so much of the device's memory that a want of it says nothing of whoever asked. Gives back
    /// all that is held here.
    [[nodiscard]] bool others_hold_the_memory();

private:
    struct Bench {
        GemmSpec spec;
        float alpha = 1.0F;
        float beta = 0.0F;
        std::optional<ExactVerifier> verifier;
        std::optional<TimingBench> timing;
    };

    [[nodiscard]] Bench& turn_to(const GemmSpec& spec, float alpha, float beta);
    void drop_oldest();
    [[nodiscard]] bool is_crowded() const;

    ContextState& context_;
    std::size_t free_at_first_;
    std::list<Bench> benches_;  // the one used last first
};

}  // namespace jitgemm::tuning
