#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "runtime/cli/emulated_run.hpp"
#include "runtime/cli/output.hpp"

#include <string>

namespace jitgemm::cli {

/// What the emulator counted in one launch (docs/emulator.md says what each counter is): instructions by kind, global and
/// shared memory, and the source lines that cost memory. Fields of the JSON object are documented in docs/cli.md.
[[nodiscard]] std::string profile_text(const EmulatedRun& run, const GemmKernel& kernel);
[[nodiscard]] Json profile_json(const EmulatedRun& run, const GemmKernel& kernel);

}  // namespace jitgemm::cli
