#pragma once

#include "runtime/cli/output.hpp"

namespace jitgemm::cli {

/// Tells stderr, and with --json stdout, what the exception in flight says; returns the exit code it means. To be
/// called from within a catch block.
[[nodiscard]] int report_failure(Output& output);

}  // namespace jitgemm::cli
