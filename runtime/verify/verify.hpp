#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/verify/guarded_problem.hpp"

#include <cstdint>

namespace jitgemm {

struct VerifyOptions {
    float alpha = 1.0F;
    float beta = 0.0F;  ///< with C in the spec
    std::uint64_t seed = 1;
    bool use_cpu = false;  ///< also check on the CPU (refused above kCpuReferenceLimit multiply-adds)
};

/// Adds the place that computed the first mismatch, if there is one, to it and to the message.
void add_owner(Verification& verdict, const GemmKernel& kernel);

/// Runs the kernel on small integers (integer_trials()), then on normal numbers, and checks each result. D starts as
/// NaN. The verdict is the first failure, or the last success. On the emulator it is that of verify_emulated().
[[nodiscard]] Verification verify(ContextState& context, const GemmKernel& kernel, const VerifyOptions& options = {});

}  // namespace jitgemm
