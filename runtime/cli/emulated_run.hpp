#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/cli/measurement.hpp"
#include "runtime/verify/emulated_time.hpp"
#include "runtime/verify/emulator_verify.hpp"

#include <string>

namespace jitgemm::cli {

/// What `run` tells of a kernel on the emulator.
struct EmulatedRun {
    Measurement measurement;  ///< its times estimated
    emulator::Counters counters;
    EmulatedTime time;
};

/// Verifies the kernel in all trials of verify_emulated() and estimates its time. Ctrl-C ends it with EmulatorStopped.
[[nodiscard]] EmulatedRun run_emulated(ContextState& context, const GemmKernel& kernel, const ProblemRequest& request,
                                       Output& output);

/// Lines of the generated body that a message names ("kernel.cu:12") as lines of the whole file, banner included, and
/// the text of the first of them.
[[nodiscard]] std::string with_file_lines(const std::string& message, const GemmKernel& kernel);

/// How many lines the banner of the kernel's file has: what to add to a line of the body.
[[nodiscard]] int banner_lines(const GemmKernel& kernel);

/// What the emulator counted in one launch (docs/emulator.md says what each counter is): instructions by kind, global
/// and shared memory, and the source lines that cost memory. docs/run-and-bench.md documents the JSON fields.
[[nodiscard]] std::string profile_text(const EmulatedRun& run, const GemmKernel& kernel);
[[nodiscard]] Json profile_json(const EmulatedRun& run, const GemmKernel& kernel);

}  // namespace jitgemm::cli
