#pragma once

#include "python/src/python.hpp"

namespace jitgemm::python {

/// The type jitgemm.KernelSet.
[[nodiscard]] Ref make_kernel_set_type();

}  // namespace jitgemm::python
