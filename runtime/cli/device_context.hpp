#pragma once

#include "runtime/jitgemm.hpp"

namespace jitgemm::cli {

/// A Context on the device the options name. Where there is none, the error also says which verbs work without.
[[nodiscard]] Context open_context(const Options& options);

}  // namespace jitgemm::cli
