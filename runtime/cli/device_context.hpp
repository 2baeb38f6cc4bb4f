#pragma once

#include "jitgemm/context.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/output.hpp"

namespace jitgemm::cli {

/// A Context on the device that the options name. Its compiles are shown as progress. It must not outlive `output`. If
/// there is no such device, the error also names the verbs that need none.
[[nodiscard]] Context open_context(const Options& options, Output& output);

}  // namespace jitgemm::cli
