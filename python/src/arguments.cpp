#include "python/src/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::python {
namespace {

[[noreturn]] void refuse(const Signature& signature, const std::string& what) {
    PyErr_SetString(PyExc_TypeError, fmt::format("{}() {}", signature.function, what).c_str());
    throw PythonError{};
}

/// The number of names where none is it.
std::size_t find_named(const Signature& signature, PyObject* name) {
    for (std::size_t i = 0; i < signature.names.size(); ++i)
        if (signature.names[i].is(name)) return i;
    for (std::size_t i = 0; i < signature.names.size(); ++i)
        if (signature.names[i].reads(name)) return i;
    return signature.names.size();
}

void take_named(const Signature& signature, PyObject* name, PyObject* value, PyObject** into, Keywords& others) {
    const std::size_t i = find_named(signature, name);
    if (i == signature.names.size()) return others.push_back({name, value});
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
                    PyObject** into, Keywords& others) {
    check_count(signature, static_cast<std::size_t>(count));
    std::copy_n(arguments, count, into);
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < named; ++i)
        take_named(signature, PyTuple_GetItem(names, i), arguments[count + i], into, others);
}

void read_arguments(const Signature& signature, PyObject* positional, PyObject* named, PyObject** into,
                    Keywords& others) {
    const Py_ssize_t count = PyTuple_Size(positional);
    check_count(signature, static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) into[i] = PyTuple_GetItem(positional, i);
    PyObject *name = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (named != nullptr && PyDict_Next(named, &position, &name, &value) != 0)
        take_named(signature, name, value, into, others);
}

void check_arguments(const Signature& signature, PyObject* const* values, const Keywords& others, bool takes_others) {
    if (!takes_others && !others.empty())
        refuse(signature, fmt::format("got an unexpected keyword argument '{}'", words_of(others.front().name)));
    check_required(signature, values);
}

void read_arguments(const Signature& signature, PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                    PyObject** into) {
    Keywords others;
    read_arguments(signature, arguments, count, names, into, others);
    check_arguments(signature, into, others, false);
}

void read_arguments(const Signature& signature, PyObject* positional, PyObject* named, PyObject** into) {
    Keywords others;
    read_arguments(signature, positional, named, into, others);
    check_arguments(signature, into, others, false);
}

}  // namespace jitgemm::python
