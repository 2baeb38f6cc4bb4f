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

/// The problems to draw from.
struct ProblemScope {
    const GpuModel* gpu = nullptr;  ///< a GPU, with larger problems and tiles; null: three that the emulator stands for
    std::string kind = {};          ///< batches, groups, float8, int8, scales, single (precision), prepared, symmetric,
                                    ///< epilogues; empty: all
};

/// The index-th problem of a seed, the same on every machine: M, N and K of 1 to 300, every layout, order of D, type,
/// math and family, leading dimensions beyond the row, lower alignments, C, alpha and beta, split K, clusters, packed
/// and prepared operands. Eight in a row share one kernel, so that most of them need no compile. In one of eight of
/// these groups each problem has the heuristic's own choice. Throws std::invalid_argument for an unknown kind.
[[nodiscard]] RandomProblem random_problem(std::uint64_t seed, std::uint64_t index, const ProblemScope& scope = {});

/// The same without batches and groups, each with a random text and a kernel of its own.
[[nodiscard]] RandomProblem random_text_problem(std::uint64_t seed, std::uint64_t index);

/// Describes it: architecture, problem, scalars, kernel.
[[nodiscard]] std::string describe(const RandomProblem& problem);

}  // namespace jitgemm::testing
