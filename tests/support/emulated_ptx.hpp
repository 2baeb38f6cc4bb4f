#pragma once

#include "runtime/emulator/program.hpp"
#include "tests/support/random_ptx_programs.hpp"
#include "tests/support/scalar_instructions.hpp"

#include <cstdint>
#include <vector>

/// \file The PTX of GPU comparisons on the emulator's executor.

namespace jitgemm::testing {

/// Results of a program of that module, as PtxProgram lays them out: [32 · instruction + lane].
[[nodiscard]] std::vector<std::uint32_t> emulated(const emulator::Program& module, const PtxProgram& program);

/// Results of scalar_ptx for operands as scalar_operands gives them, any number of threads.
[[nodiscard]] std::vector<std::uint64_t> emulated(const ScalarInstruction& instruction, int compute_capability,
                                                  std::vector<std::uint64_t> operands);

}  // namespace jitgemm::testing
