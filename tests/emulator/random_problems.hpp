#pragma once

#include "generator/base/arch.hpp"
#include "generator/families/kernel_config.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/verify/verify.hpp"

#include <cstdint>
#include <string>

namespace jitgemm::testing {

/// A right kernel and a problem for it.
struct RandomProblem {
    const GpuModel* gpu = nullptr;  ///< what the emulator stands for
    GemmSpec spec;                  ///< resolved
    KernelConfig config;
    VerifyOptions options;
};

/// The index-th problem of a seed, the same on every machine: M, N and K of 1 to 300, every layout, order of D, type,
/// math and family, leading dimensions beyond the row, lower alignments, C, alpha and beta, split K, clusters, packed
/// operands. Eight in a row share one kernel, so that most of them need no compile; in one of eight such groups each
/// problem has the heuristic's own choice.
[[nodiscard]] RandomProblem random_problem(std::uint64_t seed, std::uint64_t index);

/// What to say of it: architecture, problem, scalars, kernel.
[[nodiscard]] std::string describe(const RandomProblem& problem);

}  // namespace jitgemm::testing
