#pragma once

#include "runtime/cli/output.hpp"

namespace jitgemm::cli {

/// Writes the current exception's text to stderr, and with --json to stdout. Returns its exit code. It must be called
/// within a catch block.
[[nodiscard]] int report_failure(Output& output);

}  // namespace jitgemm::cli
