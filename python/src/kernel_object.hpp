#pragma once

#include "python/src/python.hpp"

namespace jitgemm::python {

/// The type jitgemm._core.Kernel, whose subclass in Python is jitgemm.Kernel.
[[nodiscard]] Ref make_kernel_type();

}  // namespace jitgemm::python
