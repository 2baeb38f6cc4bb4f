#pragma once

#include "python/src/python.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace jitgemm::python {

/// A parameter's name. Keywords of calls are interned nearly always, so that the address tells them.
class Name {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): a table of names is written as texts
    Name(const char* text) : text_(text), interned_(PyUnicode_InternFromString(text)) {}

    [[nodiscard]] const char* text() const { return text_; }
    [[nodiscard]] bool is(PyObject* name) const { return name == interned_; }
    [[nodiscard]] bool reads(PyObject* name) const { return PyUnicode_CompareWithASCIIString(name, text_) == 0; }

private:
    const char* text_;
    PyObject* interned_;  ///< kept for ever
};

/// Names of a function's parameters, the positional ones first; what is optional is null where it is not given.
struct Signature {
    const char* function;
    std::span<const Name> names;
    std::size_t positional;  ///< may be given by place
    std::size_t required;
};

/// An argument whose name a signature does not have; both are borrowed.
struct Keyword {
    PyObject* name;
    PyObject* value;
};
using Keywords = std::vector<Keyword>;

/// Of a vectorcall: positional arguments, then those whose names the tuple holds. Raises TypeError as Python's
/// functions do.
void read_arguments(const Signature& signature, PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                    PyObject** into);
/// The same of a tuple and a dict.
void read_arguments(const Signature& signature, PyObject* positional, PyObject* named, PyObject** into);

/// The same where names that the signature does not have are collected. check_arguments() follows.
void read_arguments(const Signature& signature, PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                    PyObject** into, Keywords& others);
void read_arguments(const Signature& signature, PyObject* positional, PyObject* named, PyObject** into,
                    Keywords& others);
/// Raises TypeError for others, unless they are taken, and for required arguments that are not given.
void check_arguments(const Signature& signature, PyObject* const* values, const Keywords& others, bool takes_others);

}  // namespace jitgemm::python
