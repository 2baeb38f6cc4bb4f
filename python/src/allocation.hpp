#pragma once

#include "python/src/operand.hpp"

namespace jitgemm::python {

/// (gpu, shape, type) → a DLPack capsule of new memory on that GPU, row-major and packed, for a library that makes no
/// arrays to be written.
[[nodiscard]] Ref gpu_memory(PyObject* arguments);

}  // namespace jitgemm::python
