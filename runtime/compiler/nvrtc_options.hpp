#pragma once

#include "runtime/compiler/compiler.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// All options of one compile: arch, the request's own options, and options that do not change the binary, if this
/// NVRTC knows them. Throws CompileError (empty log) for a requested option that is newer than this NVRTC.
[[nodiscard]] std::vector<std::string> nvrtc_options(const CompileRequest& request, int nvrtc_version);

/// First NVRTC version that takes the option, 10 · major + minor.
[[nodiscard]] int first_nvrtc_of_option(const std::string& option);

}  // namespace jitgemm
