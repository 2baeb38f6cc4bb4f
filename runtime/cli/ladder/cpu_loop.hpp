#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstdint>

namespace jitgemm {

/// Operands of a multiplication on the CPU, f32 whatever the spec's types, with the spec's leading dimensions.
struct CpuLoopOperands {
    const float* a = nullptr;
    const float* b = nullptr;
    const float* c = nullptr;  ///< read when the spec has C and beta is not 0
    float* d = nullptr;
};

/// How far a loop came.
struct CpuLoopRun {
    std::int64_t elements = 0;  ///< of D, row by row from the first
    double seconds = 0;
    bool whole = false;  ///< all of D
    /// What all of D would have taken at this pace.
    [[nodiscard]] double extrapolated_microseconds(const GemmSpec& spec) const;
};

/// Asked between runs of elements; true ends the loop.
using CpuLoopStop = bool (*)();

/// D = alpha · A · B + beta · C by three loops, one thread, sums in f32 in the order of K: the ladder's ground. Ends
/// when `limit_seconds` have passed. Takes a resolved spec.
[[nodiscard]] CpuLoopRun run_cpu_loop(const GemmSpec& spec, const CpuLoopOperands& operands, float alpha, float beta,
                                      double limit_seconds, CpuLoopStop stop = nullptr);

/// Bytes that the operands take in f32.
[[nodiscard]] double cpu_loop_bytes(const GemmSpec& spec);

/// Most of them: what a small machine can spare.
inline constexpr double kCpuLoopMemory = 4.0 * (1LL << 30);

/// Runs the loop on operands of its own, small integers. Throws Error naming the bytes and the limit for more than
/// kCpuLoopMemory.
[[nodiscard]] CpuLoopRun time_cpu_loop(const GemmSpec& spec, float alpha, float beta, double limit_seconds,
                                       CpuLoopStop stop = nullptr);

}  // namespace jitgemm
