#pragma once

#include "python/src/python.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace jitgemm::python {

/// Names of a function's parameters, the positional ones first; what is optional is null where it is not given.
struct Signature {
    const char* function;
    std::span<const char* const> names;
    std::size_t positional;  ///< may be given by place
    std::size_t required;
};

/// Of a vectorcall: positional arguments, then those whose names the tuple holds. Raises TypeError as Python's functions do.
void read_arguments(const Signature& signature, PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                    PyObject** into);
/// The same of a tuple and a dict.
void read_arguments(const Signature& signature, PyObject* positional, PyObject* named, PyObject** into);

}  // namespace jitgemm::python
