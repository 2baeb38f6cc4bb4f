#pragma once

#include "jitgemm/options.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/compiler/compiler.hpp"

#include <memory>

namespace jitgemm::cli {

/// The settings of the environment; the log speaks from here on as they say.
[[nodiscard]] Options tool_options();

/// What verbs that need no Context build from the settings, in the same way a Context does.
[[nodiscard]] std::shared_ptr<Compiler> compiler_of(const Options& options, int newest_major);
/// The same compiler, which shows as progress what it compiles. `output` must outlive it.
[[nodiscard]] std::shared_ptr<Compiler> announced(std::shared_ptr<Compiler> compiler, Output& output);
[[nodiscard]] KernelCache cache_of(const Options& options);

/// Largest CUDA major whose cubins this machine's driver loads; 0 (any) where there is no driver.
[[nodiscard]] int newest_major_of_machine();

}  // namespace jitgemm::cli
