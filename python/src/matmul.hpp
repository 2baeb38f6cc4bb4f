#pragma once

#include "python/src/python.hpp"

namespace jitgemm::python {

/// jitgemm.matmul, a vectorcall.
PyObject* matmul(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
extern const char* const kMatmulDoc;

}  // namespace jitgemm::python
