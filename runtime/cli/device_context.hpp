#pragma once

#include "jitgemm/context.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/output.hpp"

namespace jitgemm::cli {

/// A Context on the device the options name, whose compiles are shown as progress; it must not outlive `output`. Where
/// there is no such device, the error also says which verbs work without.
[[nodiscard]] Context open_context(const Options& options, Output& output);

}  // namespace jitgemm::cli
