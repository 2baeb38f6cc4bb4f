#pragma once

#include "runtime/bench/prepared_timing.hpp"
#include "runtime/tuning/search/services.hpp"

#include <map>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// One problem on a GPU, and the kernels that are timed for it. It is set up at the first TimeJob and kept for the next
/// ones.
class TimingBench {
public:
    TimingBench(ContextState& context, const TimeJob& job);

    /// Whether the job is of this bench's problem, protocol and inputs.
    [[nodiscard]] bool serves(const TimeJob& job) const;
    /// Prepares a kernel if it is not prepared. `kernel` may be kCublasLt. Throws if it cannot be launched.
    void add(const std::string& kernel);
    /// Frees the other kernels' preparations.
    void keep_only(const std::vector<std::string>& kernels);
    /// The time of a launch of an added kernel.
    [[nodiscard]] double microseconds(const std::string& kernel);
    [[nodiscard]] double sustained_microseconds(const std::string& kernel);  ///< for a job of the steady protocol

private:
    [[nodiscard]] std::size_t add_best_of_cublaslt();

    ContextState& context_;
    TimeJob job_;  ///< the first; its kernels and rounds do not matter
    PreparedTiming timing_;
    std::map<std::string, std::size_t> numbers_;
};

}  // namespace jitgemm::tuning
