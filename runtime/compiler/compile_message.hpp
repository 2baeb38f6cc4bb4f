#pragma once

#include "runtime/compiler/compiler.hpp"
#include "runtime/compiler/nvrtc.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// What a person reads when NVRTC refuses a kernel: its name, the log, the lines the log speaks of with their
/// neighbours, the options. `ptx` is what ptxas refused, when it came that far.
[[nodiscard]] std::string compile_message(const CompileRequest& request, const std::vector<std::string>& options,
                                          const std::string& log, const std::string& ptx, int nvrtc_version);

}  // namespace jitgemm
