#pragma once

#include "runtime/bench/benchmark.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace jitgemm {

/// The least bytes of operands through which launches rotate; 1 if a single copy is enough.
[[nodiscard]] std::int64_t rotating_bytes(const GpuModel& gpu, const TimingOptions& options);

/// One problem, set up for timing on a GPU: operands, stream and events, and for each candidate the preparations of its
/// protocol (steady: a recorded graph). It is kept between rounds, so that the setup is done once.
class PreparedTiming {
public:
    /// Throws Error if the context's device is no GPU, and CudaError if the operands do not fit.
    PreparedTiming(ContextState& context, const GemmSpec& resolved_spec, const TimingOptions& options);
    ~PreparedTiming();
    PreparedTiming(PreparedTiming&&) noexcept;
    PreparedTiming& operator=(PreparedTiming&&) noexcept;

    /// Launches the candidate a few times, records it and returns its number. The candidate's errors pass through.
    [[nodiscard]] std::size_t add(const BenchCandidate& candidate);
    /// Frees a candidate's preparations. Its number is not used again.
    void drop(std::size_t candidate);
    /// One round: microseconds per launch.
    [[nodiscard]] double microseconds(std::size_t candidate);
    /// The same by the sustained protocol, for a candidate prepared for this or for the steady protocol. Throws Error
    /// for the cold one.
    [[nodiscard]] double sustained_microseconds(std::size_t candidate);

    class Method;  // one per protocol

private:
    std::shared_ptr<Device> device_;
    std::unique_ptr<Method> method_;
};

}  // namespace jitgemm
