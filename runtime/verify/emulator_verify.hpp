#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/verify.hpp"

#include <optional>

namespace jitgemm {

struct EmulatedVerification {
    Verification verification;
    std::optional<emulator::FaultKind> fault;  ///< what the checks found; the message tells where
    emulator::Counters counters;               ///< of the first trial's launch; empty after a fault in it
};

/// Runs the first of integer_trials() with copies done at issue, blocks and warps in order; then all of them with
/// copies as late as the waits allow, in shuffled orders; then normal inputs likewise. All of the device's checks are
/// on, and each result is checked as verify() does on a GPU. Then compares the shared-memory wavefronts counted with
/// those the kernel's family expects (excess_wavefronts()). The verdict is the first failure, or the last success.
/// Throws EmulatorStopped when the device was asked to stop, and EmulatorFault for work beyond its limit and for
/// instructions it does not have: those say nothing of the kernel. The context's device must be an emulator.
[[nodiscard]] EmulatedVerification verify_emulated(ContextState& context, const GemmKernel& kernel,
                                                   const VerifyOptions& options = {});

}  // namespace jitgemm
