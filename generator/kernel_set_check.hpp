#pragma once

#include "generator/base/arch.hpp"
#include "generator/kernel_set.hpp"

namespace jitgemm {

/// For sets that come from files: throws SpecError, which names m and the kernel, if a kernel does not serve an m of
/// its ranges.
void check_kernel_set(const KernelSet& set, const Arch& arch);

}  // namespace jitgemm
