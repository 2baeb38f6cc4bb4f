#pragma once

#include "generator/gemm_spec.hpp"
#include "generator/kernel_config.hpp"
#include "generator/kernel_source.hpp"
#include "runtime/emulator/launch.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// A generated kernel as PTX, decoded for the emulator.
struct EmulatedKernel {
    GemmSpec spec;  ///< resolved
    KernelConfig config;
    KernelSource source;
    std::string ptx;
    std::shared_ptr<const emulator::Program> program;
};

/// Compiles with NVRTC and -lineinfo. Throws as the generator, the compiler and the emulator do.
[[nodiscard]] EmulatedKernel emulated_kernel(const GemmSpec& spec, const KernelConfig& config,
                                             const std::string& arch = "sm_80");
/// The same for edited PTX.
[[nodiscard]] EmulatedKernel with_ptx(EmulatedKernel kernel, std::string ptx);

struct EmulatedRun {
    emulator::AsyncMode async_mode = emulator::AsyncMode::late;
    std::uint64_t order_seed = 0;
    emulator::Checks checks = {};
    float alpha = 1.0F;
    float beta = 0.0F;
    std::uint64_t input_seed = 1;
    int threads = 0;
};

struct EmulatedResult {
    std::string first_difference;  ///< empty when D is right, bit for bit
    emulator::Counters counters;
    double cpu_seconds = 0;  ///< of the launches alone, all threads
};

/// Small integers in, so that every partial sum is exact; operands begin at just the alignment the spec says, between
/// guard bands; D starts as NaN. Compared with a sum on the CPU.
[[nodiscard]] EmulatedResult run_emulated(const EmulatedKernel& kernel, const EmulatedRun& run = {});

}  // namespace jitgemm::testing
