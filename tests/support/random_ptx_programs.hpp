#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// A straight-line kernel of one warp: every lane reads its input words, computes, and stores the result of every
/// instruction. The same index gives the same program and inputs on every machine.
///
/// Entry `name`, parameters (u64 inputs, u64 outputs): word w of lane l lies at [32 · w + l] of either buffer. Only
/// instructions whose bits the PTX ISA fixes are used; where it leaves the bits of a NaN open, the program makes the
/// NaN canonical itself.
struct PtxProgram {
    std::string name;   ///< "program_17"
    std::string entry;  ///< text of the .entry
    int input_words;    ///< a lane
    int output_words;   ///< per lane: one per instruction
    std::vector<std::uint32_t> inputs;
    std::vector<std::string> instructions;  ///< what makes output word i, for reports
};

/// `compute_capability` (10 · major + minor) limits the instructions: 80 or more.
[[nodiscard]] PtxProgram random_ptx_program(std::uint64_t index, int compute_capability);

/// A PTX module with the entries of all of them, for that capability.
[[nodiscard]] std::string ptx_module(std::span<const PtxProgram> programs, int compute_capability);

}  // namespace jitgemm::testing
