#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/workers/exact_verifier.hpp"
#include "runtime/tuning/workers/timing_bench.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

namespace jitgemm::tuning {

/// The approximate bytes that ProblemBenches holds for a problem.
[[nodiscard]] std::int64_t bench_bytes(const GemmSpec& resolved_spec, const GpuModel& gpu);

/// The device memory of the problems in flight (kProblemsInFlight): operands for verification with a right D, and
/// operands and graphs for timing. It stays from job to job, so that turning between problems costs nothing. The
/// problem that was unused for longest is freed for a new one, and to keep memory free: at least half of the initially
/// free memory, except what the current problem needs.
class ProblemBenches {
public:
    explicit ProblemBenches(ContextState& context);

    /// They are made on first use, and throw CudaError if the operands do not fit.
    [[nodiscard]] ExactVerifier& verifier(const VerifyJob& job);
    [[nodiscard]] TimingBench& timing(const TimeJob& job);
    /// Whether other processes hold much of the device's memory, so that a lack of memory is not the kernel's fault. It
    /// frees everything held here.
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
    std::list<Bench> benches_;  // the one used last is first
};

}  // namespace jitgemm::tuning
