#include "python/src/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::python {
namespace {

[[noreturn]] void refuse(const Signature& signature, const std::string& what) {
    PyErr_SetString(PyExc_TypeError, fmt::format("{}() {}", signature.function, what).c_str());
    throw PythonError{};
}

std::size_t find_named(const Signature& signature, PyObject* name) {
    for (std::size_t i = 0; i < signature.names.size(); ++i)
        if (signature.names[i].is(name)) return i;
    for (std::size_t i = 0; i < signature.names.size(); ++i)
        if (signature.names[i].reads(name)) return i;
    refuse(signature, fmt::format("got an unexpected keyword argument '{}'", words_of(name)));
}

void take_named(const Signature& signature, PyObject* name, PyObject* value, PyObject** into) {
    const std::size_t i = find_named(signature, name);
    if (into[i] != nullptr) refuse(signature, fmt::format("got '{}' twice", signature.names[i].text()));
    into[i] = value;
}

void check_count(const Signature& signature, std::size_t count) {
    if (count > signature.positional)
        refuse(signature, fmt::format("takes {} positional arguments but {} were given", signature.positional, count));
}

void check_required(const Signature& signature, PyObject* const* values) {
    for (std::size_t i = 0; i < signature.required; ++i)
        if (values[i] == nullptr) refuse(signature, fmt::format("lacks the argument '{}'", signature.names[i].text()));
}

}  // namespace

void read_arguments(const Signature& signature, PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                    PyObject** into) {
    check_count(signature, static_cast<std::size_t>(count));
    std::copy_n(arguments, count, into);
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < named; ++i) take_named(signature, PyTuple_GetItem(names, i), arguments[count + i], into);
    check_required(signature, into);
}

void read_arguments(const Signature& signature, PyObject* positional, PyObject* named, PyObject** into) {
    const Py_ssize_t count = PyTuple_Size(positional);
    check_count(signature, static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) into[i] = PyTuple_GetItem(positional, i);
    PyObject *name = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (named != nullptr && PyDict_Next(named, &position, &name, &value) != 0)
        take_named(signature, name, value, into);
    check_required(signature, into);
}

}  // namespace jitgemm::python
