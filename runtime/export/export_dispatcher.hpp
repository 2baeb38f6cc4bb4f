#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/export/export_launcher.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// The input of an exported set's dispatcher. It has one launcher for each kernel of the set.
struct DispatcherInput {
    std::string name;  ///< C identifier
    const KernelSet& set;
    const std::vector<LauncherInput>& launchers;
};

/// The set with a kernel of its own for m = 1 where a launcher can't serve m = 1 and larger m: a matrix with a single
/// row may be the other operand.
[[nodiscard]] KernelSet with_own_single_row(KernelSet set);

/// NAME.h and NAME.c: C99 that only needs the launchers.
[[nodiscard]] std::string dispatcher_header(const DispatcherInput& input);
[[nodiscard]] std::string dispatcher_source(const DispatcherInput& input);

}  // namespace jitgemm
