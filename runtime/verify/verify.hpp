#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/verify/guarded_problem.hpp"

#include <cstdint>

namespace jitgemm {

struct VerifyOptions {
    float alpha = 1.0F;
    float beta = 0.0F;  ///< with C in the spec
    std::uint64_t seed = 1;
    bool use_cpu = false;  ///< check on the CPU as well (refused above kCpuReferenceLimit multiply-adds)
};

/// Adds to the first mismatch, if there is one, and to the message who computed that element.
void add_owner(Verification& verdict, const GemmKernel& kernel);

/// Runs the kernel on small integers (integer_trials()), then on normal numbers, and checks each result; D starts as
/// NaN. The verdict is the first failure, or the last success. On the emulator it is verify_emulated()'s.
[[nodiscard]] Verification verify(ContextState& context, const GemmKernel& kernel, const VerifyOptions& options = {});

}  // namespace jitgemm
