#pragma once

#include "jitgemm/options.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/compiler/compiler.hpp"

#include <memory>

namespace jitgemm::cli {

/// The settings of the environment. They also set the log's level from here on.
[[nodiscard]] Options tool_options();

/// The parts that verbs without a Context build from the settings, in the same way as a Context does.
[[nodiscard]] std::shared_ptr<Compiler> compiler_of(const Options& options, int newest_major);
/// The same compiler; it shows its compiles as progress. `output` must outlive it.
[[nodiscard]] std::shared_ptr<Compiler> announced(std::shared_ptr<Compiler> compiler, Output& output);
[[nodiscard]] KernelCache cache_of(const Options& options);

/// Largest CUDA major whose cubins this machine's driver loads; 0 (any) if there is no driver.
[[nodiscard]] int newest_major_of_machine();

}  // namespace jitgemm::cli
