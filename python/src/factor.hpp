#pragma once

#include "python/src/python.hpp"

namespace jitgemm::python {

/// A factor, which kernels take in f32: infinities and NaN as they are, but no number becomes one silently. Null and
/// None: `otherwise`. Raises TypeError for what is no number; throws SpecError for one that is too large, and
/// OperandError for one that has a derivative.
[[nodiscard]] float factor_of(PyObject* object, const char* name, float otherwise);

}  // namespace jitgemm::python
