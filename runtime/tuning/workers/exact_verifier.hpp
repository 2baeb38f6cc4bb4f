#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/verify/verify.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace jitgemm::tuning {

/// Verifies many kernels of one problem on one GPU, with small integers (exact in any order) at exactly the promised
/// alignments. The first kernel is compared with the reference. If its D is right, a later kernel's D is compared with
/// it, so that only wrong ones cost the reference's m·n·k steps.
class ExactVerifier {
public:
    ExactVerifier(ContextState& context, const GemmSpec& resolved_spec, float alpha, float beta);

    /// Throws CudaError if the kernel cannot be launched or does not survive.
    [[nodiscard]] Verification verify(const GemmKernel& kernel);

private:
    /// The inputs of one seed.
    struct Trial {
        std::uint64_t seed = 0;
        GuardedProblem problem;
        std::optional<GuardedProblem> right;  ///< a problem whose D is right
        bool is_clean = true;                 ///< no kernel ended in a fault that may have changed the inputs
    };
    [[nodiscard]] GuardedProblem make_problem(std::uint64_t seed) const;
    [[nodiscard]] Verification verify(Trial& trial, const GemmKernel& kernel) const;

    ContextState& context_;
    GemmSpec spec_;
    float alpha_;
    float beta_;
    std::vector<Trial> trials_;  ///< more than one if there are few outputs
};

}  // namespace jitgemm::tuning
