#pragma once

#include "jitgemm/data_type.hpp"
#include "python/src/python.hpp"

namespace jitgemm::python {

/// The type of elements that a dtype of numpy, PyTorch, JAX or ml_dtypes is, or that a str names ("f16", "float16").
/// Throws SpecError, which names the argument, for all else.
[[nodiscard]] DataType data_type_of(PyObject* dtype, const char* argument);

}  // namespace jitgemm::python
