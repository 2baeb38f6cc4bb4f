#pragma once

#include "generator/base/problem.hpp"

#include <cstdint>

namespace jitgemm {

/// Operands of a multiplication on the CPU. They are f32 whatever the spec's types, and have the spec's leading
/// dimensions.
struct CpuLoopOperands {
    const float* a = nullptr;
    const float* b = nullptr;
    const float* c = nullptr;  ///< read if the spec has C and beta is not 0
    float* d = nullptr;
};

/// The progress of a loop.
struct CpuLoopRun {
    std::int64_t elements = 0;  ///< of D, row by row from the first
    double seconds = 0;
    bool whole = false;  ///< all of D
    /// The time of all of D at this pace.
    [[nodiscard]] double extrapolated_microseconds(const GemmSpec& spec) const;
};

/// Called between runs of elements. True ends the loop.
using CpuLoopStop = bool (*)();

/// Computes D = alpha · A · B + beta · C with three loops in one thread, and sums in f32 in the order of K. This is the
/// lowest rung of the ladder. It ends when `limit_seconds` have passed.
[[nodiscard]] CpuLoopRun run_cpu_loop(const Problem& problem, const CpuLoopOperands& operands, float alpha, float beta,
                                      double limit_seconds, CpuLoopStop stop = nullptr);

/// Bytes of the operands in f32.
[[nodiscard]] double cpu_loop_bytes(const GemmSpec& spec);

/// Most bytes of the operands. A small machine can spare them.
inline constexpr double kCpuLoopMemory = 4.0 * (1LL << 30);

/// Runs the loop on its own operands, small integers. Throws Error with the bytes and the limit for more than
/// kCpuLoopMemory.
[[nodiscard]] CpuLoopRun time_cpu_loop(const GemmSpec& spec, float alpha, float beta, double limit_seconds,
                                       CpuLoopStop stop = nullptr);

}  // namespace jitgemm
