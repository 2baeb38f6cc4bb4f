#pragma once

#include "runtime/bench/benchmark.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace jitgemm {

/// Bytes of operands that launches rotate through, at least; 1 where a single copy serves.
[[nodiscard]] std::int64_t rotating_bytes(const GpuModel& gpu, const TimingOptions& options);

/// One problem set up for timing on a GPU: operands in place, stream and events made, and for each candidate what its
/// protocol prepares (steady: a recorded graph). Kept between rounds, so that setting up is paid once.
class PreparedTiming {
public:
    /// Throws Error when the context's device is no GPU, CudaError when the operands do not fit.
    PreparedTiming(ContextState& context, const GemmSpec& resolved_spec, const TimingOptions& options);
    ~PreparedTiming();
    PreparedTiming(PreparedTiming&&) noexcept;
    PreparedTiming& operator=(PreparedTiming&&) noexcept;

    /// Launches the candidate a few times and records it; returns its number. Throws what it throws.
    [[nodiscard]] std::size_t add(const BenchCandidate& candidate);
    /// Frees what was prepared for it; its number is not used again.
    void drop(std::size_t candidate);
    /// One round: microseconds per launch.
    [[nodiscard]] double microseconds(std::size_t candidate);
    /// The same by the sustained protocol, of what was prepared for it or for the steady one. Throws Error for the cold
    /// one.
    [[nodiscard]] double sustained_microseconds(std::size_t candidate);

    class Method;  // one per protocol

private:
    std::shared_ptr<Device> device_;
    std::unique_ptr<Method> method_;
};

}  // namespace jitgemm
