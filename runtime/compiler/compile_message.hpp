#pragma once

#include "runtime/compiler/compiler.hpp"
#include "runtime/compiler/nvrtc.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// The message for a kernel that NVRTC refuses: its name, the log, the lines that the log names with their neighbours,
/// and the options. `ptx` is the PTX that ptxas refused, if it came that far.
[[nodiscard]] std::string compile_message(const CompileRequest& request, const std::vector<std::string>& options,
                                          const std::string& log, const std::string& ptx, int nvrtc_version);

}  // namespace jitgemm
