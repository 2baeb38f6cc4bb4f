#pragma once

#include "python/src/python.hpp"

namespace jitgemm::python {

/// jitgemm.matmul, a vectorcall.
PyObject* matmul(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
extern const char* const kMatmulDoc;
/// jitgemm.grouped_matmul, a vectorcall.
PyObject* grouped_matmul(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
extern const char* const kGroupedMatmulDoc;
/// jitgemm.syrk, a vectorcall.
PyObject* syrk(PyObject* module, PyObject* const* arguments, Py_ssize_t count, PyObject* names);
extern const char* const kSyrkDoc;

}  // namespace jitgemm::python
