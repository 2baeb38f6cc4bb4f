#pragma once

#include "jitgemm/error.hpp"
#include "python/src/log_messages.hpp"
#include "python/src/python.hpp"

#include <string>
#include <utility>
#include <vector>

namespace jitgemm::python {

/// Arrays that a product can't be made of, each with why; jitgemm.OperandError.
class OperandError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
};

/// Sets the Python exception of the class that goes with the C++ exception being handled. Returns null.
PyObject* set_python_exception() noexcept;

/// Clears the exception that is set and returns its first line. KeyboardInterrupt, MemoryError and RecursionError are
/// no library's complaints: they stay set, and PythonError is thrown.
std::string take_complaint();

/// Runs the steps of a function that Python calls. Nothing that they throw leaves it, and lines that were logged
/// meanwhile reach Python.
template <typename Steps>
PyObject* guarded(Steps&& steps) noexcept {
    PyObject* result = nullptr;
    try {
        result = steps();
    } catch (...) {
        result = set_python_exception();
    }
    deliver_waiting_messages();
    return result;
}

}  // namespace jitgemm::python
