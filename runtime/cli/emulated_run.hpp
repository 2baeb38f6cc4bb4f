#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/cli/measurement.hpp"
#include "runtime/verify/emulated_time.hpp"
#include "runtime/verify/emulator_verify.hpp"

#include <string>

namespace jitgemm::cli {

/// The results of `run` on the emulator.
struct EmulatedRun {
    Measurement measurement;  ///< its times estimated
    emulator::Counters counters;
    EmulatedTime time;
};

/// Verifies the kernel in all trials of verify_emulated() and estimates its time. Ctrl-C ends it with EmulatorStopped.
[[nodiscard]] EmulatedRun run_emulated(ContextState& context, const GemmKernel& kernel, const ProblemRequest& request,
                                       Output& output);

/// The message with lines of the body ("kernel.cu:12") replaced by lines of the whole file, with its banner, and with
/// the text of the first of them.
[[nodiscard]] std::string with_file_lines(const std::string& message, const GemmKernel& kernel);

/// The number of lines of the banner of the kernel's file. It is added to a line of the body.
[[nodiscard]] int banner_lines(const GemmKernel& kernel);

/// The emulator's counters of one launch (docs/emulator.md describes each): instructions by kind, global and shared
/// memory, and the source lines that access memory. docs/run-and-bench.md documents the JSON fields.
[[nodiscard]] std::string profile_text(const EmulatedRun& run, const GemmKernel& kernel);
[[nodiscard]] Json profile_json(const EmulatedRun& run, const GemmKernel& kernel);

}  // namespace jitgemm::cli
