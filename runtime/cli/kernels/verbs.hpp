#pragma once

#include "runtime/cli/verb.hpp"

namespace jitgemm::cli {

/// The verbs of `jitgemm kernels`.
Action declare_kernels_export(CLI::App& app);
Action declare_kernels_tune(CLI::App& app);

}  // namespace jitgemm::cli
