#pragma once

#include "runtime/bench/prepared_timing.hpp"
#include "runtime/tuning/search/services.hpp"

#include <map>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// One problem on a GPU, and the kernels that are being timed for it: set up at the first TimeJob, kept for the next.
class TimingBench {
public:
    TimingBench(ContextState& context, const TimeJob& job);

    /// Whether the job is of this bench's problem, protocol and inputs.
    [[nodiscard]] bool serves(const TimeJob& job) const;
    /// Prepares a kernel unless it is. `kernel` may be kCublasLt. Throws when it cannot be launched.
    void add(const std::string& kernel);
    /// Frees what the other kernels hold.
    void keep_only(const std::vector<std::string>& kernels);
    /// One launch's time of a kernel added before.
    [[nodiscard]] double microseconds(const std::string& kernel);
    [[nodiscard]] double sustained_microseconds(const std::string& kernel);  ///< of a job by the steady protocol

private:
    [[nodiscard]] std::size_t add_best_of_cublaslt();

    ContextState& context_;
    TimeJob job_;  ///< the first; its kernels and rounds do not matter
    PreparedTiming timing_;
    std::map<std::string, std::size_t> numbers_;
};

}  // namespace jitgemm::tuning
