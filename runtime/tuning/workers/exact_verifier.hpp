#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/verify/verify.hpp"

#include <optional>

namespace jitgemm::tuning {

/// Verifies many kernels of one problem on one GPU: small integers, exact in any order, at just the promised
/// alignments. The first kernel is held against the reference; when its D is right, a later one need only give the same
/// D, so that only wrong ones cost the reference's m·n·k steps.
class ExactVerifier {
public:
    ExactVerifier(ContextState& context, const GemmSpec& resolved_spec, float alpha, float beta);

    /// Throws CudaError when the kernel cannot be launched or does not survive.
    [[nodiscard]] Verification verify(const GemmKernel& kernel);

private:
    ContextState& context_;
    GemmSpec spec_;
    float alpha_;
    float beta_;
    Problem problem_;
    std::optional<Problem> right_;  ///< whose D was found right
};

}  // namespace jitgemm::tuning
