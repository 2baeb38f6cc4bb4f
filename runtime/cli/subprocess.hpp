#pragma once

#include <optional>
#include <string>
#include <vector>

namespace jitgemm::cli {

struct ProgramResult {
    int exit_code = 0;
    std::string output;  ///< stdout
};

/// Runs a program (a path, or a name looked up in PATH) and waits for it. Its stderr is ours. Nothing if there is no
/// such program.
[[nodiscard]] std::optional<ProgramResult> run_program(const std::vector<std::string>& words);

}  // namespace jitgemm::cli
