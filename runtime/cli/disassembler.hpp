#pragma once

#include "jitgemm/options.hpp"

#include <string>
#include <vector>

namespace jitgemm::cli {

/// Programs of the CUDA toolkit that print a cubin's machine code, in the order they are tried.
[[nodiscard]] std::vector<std::string> disassembler_candidates(const Options& options);

/// SASS of a cubin. Throws Error with the programs that were tried if there is no disassembler.
[[nodiscard]] std::string disassemble(const std::string& cubin, const Options& options);

}  // namespace jitgemm::cli
