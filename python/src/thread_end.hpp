#pragma once

#include "python/src/python_api.hpp"

/// \file The interpreter's end while other threads still run. Before 3.14, CPython ends a thread that wants the GIL
/// then by pthread_exit, which unwinds the thread's stack. Frames of C++ don't survive that: destructors must not
/// throw, and the GIL is not there to drop references with. Here the thread sleeps for ever instead, as with CPython
/// 3.14, and the process ends without it.
///
/// Code in Python gives the GIL away and takes it again. Whatever may run code of a caller or of a module is therefore
/// called through one of these functions. They answer what the function of Python's answers that each one names.
namespace jitgemm::python {

/// PyEval_RestoreThread.
void take_gil(PyThreadState* state) noexcept;

/// PyObject_Call. `positional`: a tuple, or null for none.
[[nodiscard]] PyObject* call_python(PyObject* callable, PyObject* positional = nullptr,
                                    PyObject* named = nullptr) noexcept;

/// PyObject_CallMethodNoArgs.
[[nodiscard]] PyObject* call_method(PyObject* object, PyObject* name) noexcept;

/// PyImport_Import.
[[nodiscard]] PyObject* import_module(PyObject* name) noexcept;

/// PyImport_ImportModule.
[[nodiscard]] PyObject* import_module(const char* name) noexcept;

/// PyObject_GetAttr.
[[nodiscard]] PyObject* attribute_of(PyObject* object, PyObject* name) noexcept;

/// PyObject_GetAttrString.
[[nodiscard]] PyObject* attribute_of(PyObject* object, const char* name) noexcept;

/// PyObject_HasAttrString.
[[nodiscard]] bool has_attribute(PyObject* object, const char* name) noexcept;

/// PyObject_Str.
[[nodiscard]] PyObject* str_of(PyObject* object) noexcept;

/// PyObject_Repr.
[[nodiscard]] PyObject* repr_of(PyObject* object) noexcept;

/// PyObject_IsTrue.
[[nodiscard]] int is_true(PyObject* object) noexcept;

/// PyErr_WriteUnraisable.
void write_unraisable(PyObject* object) noexcept;

}  // namespace jitgemm::python
