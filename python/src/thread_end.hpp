#pragma once

#include "python/src/python_api.hpp"

/// \file The interpreter's end while other threads still run. Before 3.14, CPython ends a thread that wants the GIL
/// then by pthread_exit, which unwinds the thread's stack. Frames of C++ don't survive that: destructors must not
/// throw, and the GIL is not there to drop references with. Here the thread sleeps for ever instead, as with CPython
/// 3.14, and the process ends without it.
namespace jitgemm::python {

/// PyEval_RestoreThread.
void take_gil(PyThreadState* state) noexcept;

/// PyObject_Call of what may be code in Python, which gives the GIL away and takes it again.
[[nodiscard]] PyObject* call_python(PyObject* callable, PyObject* positional, PyObject* named = nullptr) noexcept;

}  // namespace jitgemm::python
