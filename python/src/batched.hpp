#pragma once

#include "python/src/python.hpp"

namespace jitgemm::python {

/// jitgemm.batched_matmul, a vectorcall.
PyObject* batched_matmul(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
extern const char* const kBatchedMatmulDoc;

}  // namespace jitgemm::python
