#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/verify.hpp"

#include <optional>

namespace jitgemm {

struct EmulatedVerification {
    Verification verification;
    std::optional<emulator::FaultKind> fault;  ///< the finding of the checks; the message has its place
    emulator::Counters counters;               ///< of the first trial's launch; empty after a fault in it
};

/// Runs the first of integer_trials() with copies complete at issue and with blocks and warps in order. Then it runs
/// all of them with copies as late as the waits allow, in shuffled orders, and then normal inputs in the same way. All
/// checks of the device are on, and each result is checked as verify() does on a GPU. Then it compares the counted
/// shared-memory wavefronts with those that the kernel's family expects (excess_wavefronts()). The verdict is the first
/// failure, or the last success. Throws EmulatorStopped if the device was asked to stop, and EmulatorFault for work
/// beyond its limit and for instructions that it does not have: neither is a fault of the kernel. The context's device
/// must be an emulator.
[[nodiscard]] EmulatedVerification verify_emulated(ContextState& context, const GemmKernel& kernel,
                                                   const VerifyOptions& options = {});

}  // namespace jitgemm
