#pragma once

// CPython's stable ABI of 3.10: one module for every later version.
#define PY_SSIZE_T_CLEAN
// NOLINTBEGIN(readability-identifier-naming): names of Python.h
// Weak: the program jitgemm loads the extension for the tool in it, without an interpreter.
#define PyAPI_FUNC(type) __attribute__((visibility("default"), weak)) type
#define PyAPI_DATA(type) extern __attribute__((visibility("default"), weak)) type
// NOLINTEND(readability-identifier-naming)
#include <Python.h>
